import { type Command, InvalidArgumentError } from 'commander'
import { PRICE_SOURCES } from '../../features/prices/contract.ts'
import { examples } from '../flags/options.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { noteMissingTable } from './missing-table.ts'

export function addPricesExportCommand(prices: Command): void {
  prices
    .command('export')
    .description('Print all prices in Tally’s own format, which `tally prices load` can read')
    .option('--format <format>', 'csv or json; json includes aliases', parseExportFormat, 'csv' as const)
    .option('--loaded', 'only prices that were loaded or set, without the built-in price table')
    .addHelpText(
      'after',
      examples('tally prices export --loaded > prices.csv', 'tally prices export --format json > prices.json'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { format: 'csv' | 'json'; loaded?: boolean }>()
      const text = await withServices(flags, async (all) => {
        await noteMissingTable(all.prices)
        const sources = PRICE_SOURCES.filter((source) => !flags.loaded || source !== 'default')
        return all.prices.exportPrices(flags.format, { sources })
      })
      process.stdout.write(text)
    })
}

function parseExportFormat(text: string): 'csv' | 'json' {
  if (text !== 'csv' && text !== 'json') throw new InvalidArgumentError('Use csv or json.')
  return text
}
