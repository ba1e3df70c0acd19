import { type Command, InvalidArgumentError } from 'commander'
import type { NewPrice, PriceBody } from '../../features/prices/schema.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { chargesTexts } from '../../price-texts.ts'
import { examples } from '../flags/options.ts'
import { exactText } from '../terminal/numbers.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { ID, momentOf, PRICE_COLUMNS, parsePrice, parseStart, priceService, type Start } from './text.ts'
import { printValued, valueUnpriced } from './unpriced-entries.ts'

interface SetFlags extends CommandFlags {
  provider: string
  input: bigint
  output: bigint
  cacheRead?: bigint
  cacheWrite?: bigint
  cacheWrite1h?: bigint
  tiers?: NonNullable<NewPrice['tiers']>
  variants?: NonNullable<NewPrice['variants']>
  hours?: NonNullable<NewPrice['hours']>
  tool?: NonNullable<NewPrice['tools']>
  effectiveFrom?: Start
  force?: boolean
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
  prices
    .command('set')
    .description('Set the price of a model; it takes precedence over price tables')
    .argument('<model>', 'exact name of the model, as reported in entries')
    .option('--provider <provider>', 'provider that the price applies to (default: any)', '')
    .requiredOption('--input <dollars>', 'US dollars per million input tokens', parsePrice)
    .requiredOption('--output <dollars>', 'US dollars per million output tokens', parsePrice)
    .option('--cache-read <dollars>', 'US dollars per million cache-read tokens (default: input price)', parsePrice)
    .option('--cache-write <dollars>', 'US dollars per million cache-write tokens (default: input price)', parsePrice)
    .option(
      '--cache-write-1h <dollars>',
      'US dollars per million one-hour cache-write tokens (default: cache-write price)',
      parsePrice,
    )
    .option('--tiers <json>', 'prices of long requests', parseList)
    .option('--variants <json>', 'prices or multipliers of service tiers, speeds and regions', parseList)
    .option('--hours <json>', 'prices or multipliers at some hours of the day, in UTC', parseList)
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
    .option('--force', 'accept a price that looks like a mistake')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally prices set our-coder --input 0.5 --output 2',
        'tally prices set gpt-5 --provider openai --input 1 --output 8 --cache-read 0.1 --effective-from 2026-12-01',
        `tally prices set our-coder --input 2 --output 8 --tiers '[{"from_tokens": 272001, "input": 4, "output": 12}]'`,
        `tally prices set our-coder --input 2 --output 8 --variants '[{"service_tier": "batch", "multiplier": 0.5}]' --tool web_search=0.01`,
      ),
    )
    .action(async (model: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<SetFlags>()
      const { priceBody, readNewPrice, repricedBody } = await priceService()
      const { tiers, extras } = readNewPrice(chargesOf(model, flags))
      const { added, valued } = await withServices(flags, async (all, { by }) => {
        await all.prices.loadDefaultPrices()
        const row = {
          provider: flags.provider,
          model,
          input: flags.input,
          output: flags.output,
          cacheRead: flags.cacheRead ?? null,
          cacheWrite: flags.cacheWrite ?? null,
          cacheWrite1h: flags.cacheWrite1h ?? null,
          tiers,
          extras: extras ?? null,
          effectiveFrom: momentOf(flags.effectiveFrom),
        }
        const added = await all.prices.addPrice(row, by, { force: flags.force })
        return { added, valued: await valueUnpriced(all.entries, by) }
      })
      const price = priceBody(added.price)
      if (flags.json) {
        return printJson({ added: added.isAdded, price, valued: repricedBody(valued, { dryRun: false }) })
      }
      print(added.isAdded ? 'Added:' : 'This price already exists:')
      printTable<PriceBody>([...PRICE_COLUMNS, ID], [price])
      for (const text of chargesTexts(price, exactText)) print(text)
      printValued(repricedBody(valued, { dryRun: false }))
    })
}

/** What a price has besides the five prices, as the API takes it; those stay exact on their own way. */
function chargesOf(model: string, { tiers, variants, hours, tool }: SetFlags): NewPrice {
  return {
    model,
    input: 0,
    output: 0,
    ...(tiers && { tiers }),
    ...(variants && { variants }),
    ...(hours && { hours }),
    ...(tool && { tools: tool }),
  }
}
