import type { Command } from 'commander'
import type { PriceBody } from '../../features/prices/schema.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { emptyText } from '../flags/filters.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { note, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { noteMissingTable } from './missing-table.ts'
import { priceColumns, priceService, SOURCE } from './text.ts'

export function addPricesListCommand(prices: Command): void {
  prices
    .command('list')
    .description('List prices by provider and model, newest first')
    .option('--search <text>', 'only models or providers whose name contains the text')
    .option('--provider <provider>', 'only prices of this provider')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .option('--csv', 'print CSV, as `tally prices export` does')
    .addHelpText('after', examples('tally prices list --search sonnet', 'tally prices list --provider openai --csv'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<
        CommandFlags & ColumnFlags & { search?: string; provider?: string; csv?: boolean }
      >()
      const { search, provider } = flags
      const filter = { search, ...(provider === undefined ? {} : { providers: [provider] }) }
      const listed = await withServices(flags, async (all) => {
        await noteMissingTable(all.prices)
        if (flags.csv) return all.prices.exportPrices('csv', filter)
        const { timeZone } = await all.organization.settings()
        return { timeZone, prices: await all.prices.everyPrice(filter) }
      })
      if (typeof listed === 'string') {
        process.stdout.write(listed)
        return
      }
      const { priceBody } = await priceService()
      const bodies = listed.prices.map(priceBody)
      if (flags.json) return printJsonList(bodies)
      printTable<PriceBody>([...priceColumns(listed.timeZone), SOURCE], bodies, flags)
      if (bodies.length === 0) note(emptyText(flags, 'prices', 'Load a price table with `tally prices load`.'))
    })
}
