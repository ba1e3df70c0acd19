import { type Command, Option } from 'commander'
import type { PriceTableBody } from '../../features/prices/schema.ts'
import { examples } from '../flags/options.ts'
import { confirm, isInteractive } from '../terminal/confirm.ts'
import { counted, exactText } from '../terminal/numbers.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { readPriceFile } from './file.ts'
import {
  momentOf,
  PRICE_COLUMNS,
  PRICE_TITLES,
  type PriceRow,
  parseStart,
  priceService,
  type Start,
  startText,
} from './text.ts'
import { printValued, valueUnpriced } from './unpriced-entries.ts'

const FORMATS = ['tally', 'litellm', 'models-dev', 'genai-prices'] as const

interface LoadFlags extends CommandFlags {
  format?: (typeof FORMATS)[number]
  effectiveFrom?: Start
  dryRun?: boolean
  force?: boolean
  allowFree?: boolean
  yes?: boolean
  json?: boolean
}

/** New prices are shown up to here: a first load has thousands, and `tally prices list` shows them all. */
const SHOWN_NEW = 20

export function addPricesLoadCommand(prices: Command): void {
  prices
    .command('load')
    .description('Load a price table. Rows are only added: existing list values do not change')
    .argument('<file>', 'a file, a URL (http:// or https://), or - for standard input; up to 16 MiB and 20,000 models')
    .addOption(new Option('--format <format>', 'format of the file (default: detected)').choices(FORMATS))
    .option(
      '--effective-from <when>',
      'when the prices take effect: a date, a timestamp or always (default: today for changed prices, always for new models)',
      parseStart,
    )
    .option('--dry-run', 'show what would be added, and write nothing')
    .option(
      '--force',
      'accept prices that look like mistakes: above $1,000 per million tokens, or cache writes above 4 times the input price',
    )
    .option('--allow-free', 'accept models with a price of 0')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally prices load model_prices_and_context_window.json --dry-run',
        'tally prices load https://models.dev/api.json --format models-dev --yes',
        'tally prices load negotiated.csv --effective-from 2026-12-01',
      ),
    )
    .action(async (where: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<LoadFlags>()
      const { format, force, allowFree, dryRun = false, yes = false } = flags
      const { tableBody } = await priceService()
      await withServices(flags, async ({ prices: service, entries }, { by }) => {
        const text = await readPriceFile(where)
        await service.loadDefaultPrices()
        const planned = await service.planTable(text, {
          format,
          effectiveFrom: momentOf(flags.effectiveFrom),
          force,
          allowFree,
        })
        const { additions, aliases } = planned.plan
        const asks = !dryRun && !yes && isInteractive() && additions.length + aliases.length > 0
        if (dryRun || asks) {
          const body = tableBody(planned, { dryRun: true, valued: null })
          if (flags.json && !asks) return printJson(body)
          if (!flags.json) printTableBody(body)
          if (dryRun) return
          await confirm(`Load ${counted(additions.length, 'row')}?`, { yes })
        }
        const loaded = await service.load(planned, by)
        const body = tableBody(loaded, { dryRun, valued: await valueUnpriced(entries, by) })
        if (flags.json) return printJson(body)
        if (!asks) printTableBody(body)
        print(additions.length > 0 ? `Loaded ${counted(loaded.plan.additions.length, 'row')}.` : 'Nothing was added.')
        if (body.valued) printValued(body.valued)
      })
    })
}

function printTableBody(body: PriceTableBody): void {
  if (body.new.length > 0) {
    print(`New in this table (${counted(body.new.length, 'row')}):`)
    printTable(PRICE_COLUMNS, body.new.slice(0, SHOWN_NEW))
    if (body.new.length > SHOWN_NEW) print(`… and ${(body.new.length - SHOWN_NEW).toLocaleString('en')} more.`)
    print('')
  }
  const changes = body.changed.flatMap(changesOf)
  if (changes.length > 0) {
    print('Changed:')
    printTable<PriceChange>(
      [
        { title: 'PROVIDER', of: ({ row }) => row.provider || '(any)' },
        { title: 'MODEL', of: ({ row }) => row.model },
        { title: 'PRICE', of: ({ title }) => title },
        { title: 'BEFORE', of: ({ before }) => before, align: 'right' },
        { title: 'AFTER', of: ({ after }) => after, align: 'right' },
        { title: 'EFFECTIVE FROM', of: ({ row }) => startText(row.effective_from) },
      ],
      changes,
    )
    print('')
  }
  if (body.refused.length > 0) {
    print(`Refused (${body.refused.length.toLocaleString('en')}):`)
    printTable(
      [
        { title: 'PROVIDER', of: ({ provider }) => provider },
        { title: 'MODEL', of: ({ model }) => model },
        { title: 'REASON', of: ({ reasons }) => reasons.map(({ message }) => message).join('; ') },
      ],
      body.refused,
    )
    print('')
  }
  printCounts(body)
}

interface PriceChange {
  row: PriceRow
  title: string
  before: string
  after: string
}

/** A line for each of the prices that differ. */
function changesOf({ before, after }: { before: PriceRow; after: PriceRow }): PriceChange[] {
  const prices = Object.entries(PRICE_TITLES).map(([field, title]) => {
    const kind = field as keyof typeof PRICE_TITLES
    return { row: after, title: title.toLowerCase(), before: exactText(before[kind]), after: exactText(after[kind]) }
  })
  const tiers = { row: after, title: 'long context', before: tiersText(before), after: tiersText(after) }
  return [...prices, tiers].filter((change) => change.before !== change.after)
}

function tiersText({ tiers }: PriceRow): string {
  return tiers.length === 0 ? '–' : JSON.stringify(tiers)
}

function printCounts({ format, counts, skipped, unused, rounded }: PriceTableBody): void {
  const number = (count: number) => count.toLocaleString('en')
  const kinds = (byKind: Record<string, number>) =>
    Object.entries(byKind)
      .sort(([, one], [, other]) => other - one)
      .map(([kind, count]) => `${kind.replaceAll('_', ' ')} ${number(count)}`)
      .join(', ')
  print(
    `Format ${format}: ${number(counts.new)} new, ${number(counts.changed)} changed, ${number(counts.unchanged)} unchanged, ${number(counts.refused)} refused, ${number(counts.skipped)} skipped.`,
  )
  if (counts.skipped > 0) print(`Skipped: ${kinds(skipped)}.`)
  if (Object.keys(unused).length > 0) print(`Unused price fields: ${kinds(unused)}.`)
  if (rounded.length > 0) {
    print(
      `${counted(rounded.length, 'price')} had more decimals than pico-dollars per token and ${rounded.length === 1 ? 'was' : 'were'} rounded.`,
    )
  }
}
