import type { Command } from 'commander'
import type { PriceBody } from '../../features/prices/schema.ts'
import { examples } from '../flags/options.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { ID, momentOf, PRICE_COLUMNS, parsePrice, parseStart, priceService, type Start } from './text.ts'
import { printValued, valueUnpriced } from './unpriced-entries.ts'

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
      ),
    )
    .action(async (model: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<
        CommandFlags & {
          provider: string
          input: bigint
          output: bigint
          cacheRead?: bigint
          cacheWrite?: bigint
          cacheWrite1h?: bigint
          effectiveFrom?: Start
          force?: boolean
        }
      >()
      const { priceBody, repricedBody } = await priceService()
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
          tiers: [],
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
      printValued(repricedBody(valued, { dryRun: false }))
    })
}
