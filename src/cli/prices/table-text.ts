/** What loading a price table changes, as `tally prices load`, `update` and `check` print it. */
import type { PriceTableBody } from '../../features/prices/schema.ts'
import { counted, exactText } from '../terminal/numbers.ts'
import { print, printTable } from '../terminal/print.ts'
import { otherPrices, PRICE_TITLES, priceColumns, startText } from './text.ts'

/** New prices are shown up to here: a first load has thousands, and `tally prices list` shows them all. */
const SHOWN_NEW = 20

export function printTableBody(body: PriceTableBody, timeZone: string): void {
  if (body.new.length > 0) {
    print(`New in this table (${counted(body.new.length, 'row')}):`)
    printTable(priceColumns(timeZone), body.new.slice(0, SHOWN_NEW))
    if (body.new.length > SHOWN_NEW) print(`… and ${(body.new.length - SHOWN_NEW).toLocaleString('en')} more.`)
    print('')
  }
  printChanges('Changed:', body.changed, timeZone)
  printChanges('Added, but a custom price of the model still applies:', body.overridden, timeZone)
  printChanges('Skipped, because the prices in use are newer (--allow-older loads them):', body.older, timeZone)
  printRemoved(body.removed, timeZone)
  printInUse(body.in_use)
  if (body.refused.length > 0) {
    print(`Refused (${body.refused.length.toLocaleString('en')}):`)
    printTable(
      [
        { title: 'PROVIDER', of: ({ provider }) => provider },
        { title: 'MODEL', of: ({ model }) => model },
        { title: 'REASON', flows: true, of: ({ reasons }) => reasons.map(({ message }) => message).join('; ') },
      ],
      body.refused,
    )
    print('')
  }
  printCounts(body)
}

/** Prices are never withdrawn by a load: this says which ones the table would leave as they are. */
function printRemoved(removed: PriceTableBody['removed'], timeZone: string): void {
  if (removed.length === 0) return
  print(`No longer in this table, and still in force (${counted(removed.length, 'price')}):`)
  printTable(priceColumns(timeZone), removed.slice(0, SHOWN_NEW))
  if (removed.length > SHOWN_NEW) print(`… and ${(removed.length - SHOWN_NEW).toLocaleString('en')} more.`)
  print('')
}

function printChanges(title: string, replacements: PriceTableBody['changed'], timeZone: string): void {
  if (replacements.length === 0) return
  print(title)
  printTable<PriceChange>(
    [
      { title: 'PROVIDER', of: ({ row }) => row.provider || '(any)' },
      { title: 'MODEL', of: ({ row }) => row.model },
      { title: 'PRICE', of: ({ title }) => title },
      { title: 'BEFORE', of: ({ before }) => before, align: 'right' },
      { title: 'AFTER', of: ({ after }) => after, align: 'right' },
      { title: 'CHANGE', of: ({ change }) => changeText(change), align: 'right' },
      { title: 'EFFECTIVE FROM', of: ({ row }) => startText(row.effective_from, timeZone) },
      { title: 'AS OF', rank: 1, of: ({ from, row }) => `${originText(from)} -> ${originText(row)}` },
    ],
    replacements.flatMap(changesOf),
  )
  for (const replacement of replacements) for (const line of otherChanges(replacement)) print(line)
  print('')
}

/** `default 2026-09-23`: where a price is from, and how recent it is. */
function originText({ source, as_of }: ListedRow): string {
  return `${source} ${as_of ?? '(unknown)'}`
}

function printInUse(differences: PriceTableBody['in_use']): void {
  if (differences.length === 0) return
  print(`Models in use whose price changes (${differences.length.toLocaleString('en')}):`)
  printDifferences(differences, ['BEFORE', 'AFTER'])
  print('')
}

/** A line per model, with the input and output price of both tables. */
export function printDifferences(differences: PriceTableBody['in_use'], [before, after]: [string, string]): void {
  const pricesOf = (row: ListedRow | null) =>
    row ? `${exactText(row.input)} / ${exactText(row.output)}, ${originText(row)}` : 'none'
  printTable(
    [
      { title: 'MODEL', of: ({ model }) => model },
      { title: 'PROVIDER', of: ({ provider }) => provider ?? '–' },
      { title: 'ENTRIES', of: ({ entries }) => entries.toLocaleString('en'), align: 'right' },
      { title: `${before} (INPUT / OUTPUT)`, of: (difference) => pricesOf(difference.before) },
      { title: `${after} (INPUT / OUTPUT)`, of: (difference) => pricesOf(difference.after) },
      { title: 'LARGEST CHANGE', of: ({ change }) => changeText(change), align: 'right' },
    ],
    differences,
  )
}

function changeText(change: number | null): string {
  return change === null
    ? '–'
    : `${change > 0 ? '+' : ''}${(change * 100).toLocaleString('en', { maximumFractionDigits: 1 })}%`
}

type ListedRow = PriceTableBody['new'][number]

interface PriceChange {
  row: ListedRow
  /** The row before. */
  from: ListedRow
  title: string
  before: string
  after: string
  /** A share: 0.1 for 10% more; null if one of the two is unknown, or nothing was charged before. */
  change: number | null
}

/** A line for each of the prices that differ. */
function changesOf({ before, after }: { before: ListedRow; after: ListedRow }): PriceChange[] {
  const prices = Object.entries(PRICE_TITLES).map(([field, title]) => {
    const kind = field as keyof typeof PRICE_TITLES
    return {
      row: after,
      from: before,
      title: title.toLowerCase(),
      before: exactText(before[kind]),
      after: exactText(after[kind]),
      change: shareOf(before[kind], after[kind]),
    }
  })
  return prices.filter((change) => change.before !== change.after)
}

function shareOf(before: number | null, after: number | null): number | null {
  return before && after !== null ? (after - before) / before : null
}

/** Long-context prices and further charges that differ, a line for each that only one of the two has. */
function otherChanges({ before, after }: { before: ListedRow; after: ListedRow }): string[] {
  const [gone, added] = [otherPrices(before), otherPrices(after)]
  const lines = [
    ...gone.filter((text) => !added.includes(text)).map((text) => `  without ${text}`),
    ...added.filter((text) => !gone.includes(text)).map((text) => `  with ${text}`),
  ]
  return lines.length === 0 ? [] : [`Other prices of ${after.model} at ${after.provider || '(any)'}:`, ...lines]
}

function printCounts({ format, as_of, as_of_from, counts, skipped, unused, rounded }: PriceTableBody): void {
  const number = (count: number) => count.toLocaleString('en')
  const kinds = (byKind: Record<string, number>) =>
    Object.entries(byKind)
      .sort(([, one], [, other]) => other - one)
      .map(([kind, count]) => `${kind} ${number(count)}`)
      .join(', ')
  print(
    `Format ${format}: ${number(counts.new)} new, ${number(counts.changed)} changed, ${number(counts.unchanged)} unchanged, ${number(counts.refused)} refused, ${number(counts.skipped)} skipped.`,
  )
  print(`As of ${as_of} (${AS_OF_TEXTS[as_of_from]}).`)
  if (counts.same_price > 0) {
    print(
      `${counted(counts.same_price, 'price')} from other tables ${counts.same_price === 1 ? 'is' : 'are'} the same and ${counts.same_price === 1 ? 'is' : 'are'} added.`,
    )
  }
  if (counts.overridden > 0) print(`${counted(counts.overridden, 'price')} added for models with a custom price.`)
  if (counts.removed > 0) print(`${counted(counts.removed, 'price')} no longer in the table, unchanged.`)
  if (counts.older > 0) print(`${counted(counts.older, 'older price')} skipped.`)
  for (const [reason, models] of Object.entries(skipped)) print(skippedText(reason, models))
  if (Object.keys(unused).length > 0) print(`Prices that Tally does not use, by column: ${kinds(unused)}.`)
  if (rounded.length > 0) {
    print(
      `${counted(rounded.length, 'price')} had more decimals than pico-dollars per token and ${rounded.length === 1 ? 'was' : 'were'} rounded.`,
    )
  }
}

/** Reasons that do not name what a model is made for instead of text, such as `embedding`. */
const SKIPPED: Record<string, string> = {
  'alias without alias, model and provider': 'an alias needs the columns alias, model and provider',
  'listed twice': 'the table lists the model twice',
  'no text output': 'the model does not generate text',
  'not a model': 'the row is not a model',
  'not a provider': 'the row is not a provider',
}

const skippedText = (reason: string, rows: number): string =>
  `Skipped ${counted(rows, 'row')}: ${SKIPPED[reason] ?? `the model is for ${reason.replaceAll('_', ' ')}, not for text`}.`

const AS_OF_TEXTS = {
  given: 'as you stated',
  contents: 'the date in the file',
  models: 'the newest date of a model in the file; set another date with --as-of',
  modified: 'when it was last modified; set another date with --as-of',
  today: 'today, because the table has no date; set another one with --as-of',
} as const

/** What was loaded, and how to undo it. */
export function loadedText(load: string | null, rows: number): string {
  return load === null ? 'Nothing was added.' : `Loaded ${counted(rows, 'row')}. To undo: tally prices undo ${load}`
}
