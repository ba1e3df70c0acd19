import { type Command, InvalidArgumentError, Option } from 'commander'
import type { AddedPrice, NewPrice } from '../../features/prices/schema.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { chargesTexts, tierTexts } from '../../shared/price-texts.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { exactText } from '../terminal/numbers.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { noteMissingTable } from './missing-table.ts'
import {
  effectiveText,
  PRICE_TITLES,
  type PriceRow,
  parseDay,
  parsePrice,
  parseStart,
  priceService,
  startText,
} from './text.ts'
import { printValued, valueUnpriced } from './unpriced-entries.ts'

interface SetFlags extends CommandFlags {
  provider: string
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite1h?: number
  tiers?: NonNullable<NewPrice['tiers']>
  variants?: NonNullable<NewPrice['variants']>
  hours?: NonNullable<NewPrice['hours']>
  tool?: NonNullable<NewPrice['tools']>
  effectiveFrom?: string
  effectiveUntil?: string
  only?: boolean
  force?: boolean
  dryRun?: boolean
  yes?: boolean
}

/** Only whether it is a list of objects: the service checks what is in it. */
function parseList<Item>(text: string): Item[] {
  try {
    const list = parseExactJson(text)
    if (Array.isArray(list)) return list
  } catch {
    // The same message as for JSON of another kind.
  }
  throw new InvalidArgumentError('Use a JSON list, as in POST /api/v1/prices.')
}

/** For a flag that is repeated: `name=dollars`. */
function collectToolPrice(text: string, before: Record<string, number> = {}): Record<string, number> {
  const [, name, dollars] = /^([^=]+)=(\d{1,4}(?:\.\d{1,12})?)$/.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('Use name=dollars per use, such as web_search=0.01.')
  return Object.fromEntries([...Object.entries(before), [name, Number(dollars)]])
}

export function addPricesSetCommand(prices: Command): void {
  asksFirst(prices.command('set'))
    .description('Set the price of a model; it takes precedence over price tables and keeps what is not given')
    .argument('<model>', 'exact name of the model, as reported in entries')
    .addOption(new Option('--provider <provider>', 'provider that the price applies to').default('', 'any'))
    .option('--input <dollars>', 'US dollars per million input tokens', parsePrice)
    .option('--output <dollars>', 'US dollars per million output tokens', parsePrice)
    .option('--cache-read <dollars>', 'US dollars per million cache-read tokens', parsePrice)
    .option('--cache-write <dollars>', 'US dollars per million cache-write tokens', parsePrice)
    .option('--cache-write-1h <dollars>', 'US dollars per million one-hour cache-write tokens', parsePrice)
    .option('--tiers <json>', 'prices of long requests; [] for none', parseList)
    .option('--variants <json>', 'prices or multipliers of service tiers, speeds and regions; [] for none', parseList)
    .option('--hours <json>', 'prices or multipliers at some hours of the day, in UTC; [] for none', parseList)
    .option(
      '--tool <name=dollars>',
      'US dollars per use of a tool, such as web_search=0.01, repeatable',
      collectToolPrice,
    )
    .option(
      '--effective-from <when>',
      'a date, a timestamp or always (default: today, or always for a new model)',
      parseStart,
    )
    .option('--effective-until <when>', 'end, exclusive: a date or a timestamp (default: none)', parseDay)
    .option('--only', 'keep nothing: what is not given is unknown')
    .option('--dry-run', 'only print what would change')
    .option('--force', 'accept a price that looks like a mistake')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
A model that has a price keeps the prices, tiers and other charges that are not given. Without any of its own, cached
tokens have the price of input, and one-hour cache writes that of cache writes.
${examples(
  'tally prices set our-coder --input 0.5 --output 2',
  'tally prices set gpt-5 --provider openai --input 1 --dry-run',
  'tally prices set gpt-5 --provider openai --input 1 --output 8 --cache-read 0.1 --effective-from 2026-12-01 --yes',
  `tally prices set our-coder --input 2 --output 8 --tiers '[{"from_tokens": 272001, "input": 4, "output": 12}]'`,
  `tally prices set our-coder --input 2 --output 8 --variants '[{"service_tier": "batch", "multiplier": 0.5}]' --tool web_search=0.01`,
)}`,
    )
    .action(async (model: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<SetFlags>()
      const { priceChangeBody, repricedBody, setPriceBody } = await priceService()
      const price = newPrice(model, flags)
      await withServices(flags, async (all, { by }) => {
        const { timeZone } = await all.organization.settings()
        await (flags.dryRun ? noteMissingTable(all.prices) : all.prices.loadDefaultPrices())
        const { table, ...planned } = await all.prices.planPrice(price)
        if (flags.dryRun) {
          const valued = repricedBody(await valueUnpriced(all.entries, by, { dryRun: true, table }), { dryRun: true })
          if (flags.json) return printJson(setPriceBody(planned, { price: null, valued }))
          printPriceChange(priceChangeBody(planned), timeZone)
          return printValued(valued)
        }
        const asks = planned.isAdded && !flags.yes
        if (asks) {
          if (!flags.json) printPriceChange(priceChangeBody(planned), timeZone)
          await confirm(`Set the price of ${model}?`, flags)
        }
        const { price: set, ...effect } = await all.prices.setPrice(price, by)
        const valued = repricedBody(await valueUnpriced(all.entries, by), { dryRun: false })
        if (flags.json) return printJson(setPriceBody(effect, { price: set, valued }))
        if (!asks) printPriceChange(priceChangeBody(effect), timeZone)
        if (effect.isAdded) print(`Added: ${set.uid}`)
        printValued(valued)
      })
    })
}

function newPrice(model: string, flags: SetFlags): NewPrice {
  const { provider, input, output, cacheRead, cacheWrite, cacheWrite1h, tiers, variants, hours, tool } = flags
  const price = {
    provider,
    input,
    output,
    cache_read: cacheRead,
    cache_write: cacheWrite,
    cache_write_1h: cacheWrite1h,
    tiers,
    variants,
    hours,
    tools: tool,
    effective_from: flags.effectiveFrom,
    effective_until: flags.effectiveUntil,
    only: flags.only,
    force: flags.force,
  }
  return { model, ...Object.fromEntries(Object.entries(price).filter(([, value]) => value !== undefined)) }
}

/** A change of a model's price, before it is made and after. */
type Change = Pick<AddedPrice, 'added' | 'before' | 'after' | 'kept'>

const KINDS = Object.keys(PRICE_TITLES) as (keyof typeof PRICE_TITLES)[]

/** Each price before and after, and what is kept; the other charges below, if there are any. */
function printPriceChange({ added, before, after, kept }: Change, timeZone: string): void {
  const name = `'${after.model}' at ${after.provider || 'any provider'}`
  if (!added) print('This price already exists:')
  print(`${name}, ${periodText(after, timeZone)}, in US dollars per million tokens:`)
  const isReplaced = added && before !== null
  printTable<(typeof KINDS)[number]>(
    [
      { title: 'PRICE', of: (kind) => PRICE_TITLES[kind].toLowerCase() },
      ...(isReplaced
        ? [{ title: 'BEFORE', of: (kind: (typeof KINDS)[number]) => exactText(before[kind]), align: 'right' as const }]
        : []),
      { title: isReplaced ? 'AFTER' : 'AMOUNT', of: (kind) => exactText(after[kind]), align: 'right' },
      { title: '', of: (kind) => (kept.includes(kind) ? 'kept' : '') },
    ],
    KINDS,
  )
  printCharges({ added, before, after, kept })
  if (isReplaced) print(`Before: '${before.model}' at ${before.provider || 'any provider'} (${before.source}).`)
}

function printCharges({ before, after }: Change): void {
  const now = otherCharges(after)
  const gone = before ? otherCharges(before).filter((text) => !now.includes(text)) : []
  for (const text of now) print(text)
  for (const text of gone) print(`no longer: ${text}`)
}

function otherCharges(price: PriceRow): string[] {
  return [...tierTexts(price.tiers, exactText), ...chargesTexts(price, exactText)]
}

function periodText({ effective_from, effective_until }: PriceRow, timeZone: string): string {
  const end = effective_until === null ? '' : ` until ${startText(effective_until, timeZone)}`
  return `${effectiveText(effective_from, timeZone)}${end}`
}
