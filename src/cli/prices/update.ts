import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { withProgress } from './source.ts'
import {
  allowOlderOption,
  asOfMoment,
  asOfOption,
  dryRunOption,
  formatOption,
  type TableFlags,
} from './table-options.ts'
import { loadedText, printTableBody } from './table-text.ts'
import { priceService } from './text.ts'
import { printValued } from './unpriced-entries.ts'

interface UpdateFlags extends CommandFlags, TableFlags {
  from?: string
}

export function addPricesUpdateCommand(prices: Command): void {
  prices
    .command('update')
    .description('Update prices from the configured source, and report what changed')
    .option('--from <place>', 'https:// address or file of the table (default: TALLY_PRICES_FROM)')
    .addOption(formatOption('table'))
    .addOption(asOfOption())
    .addOption(allowOlderOption())
    .addOption(dryRunOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Refuses prices that change more than ten times, and a table that looks broken as a whole. Admins and billing get an
e-mail if the price of a model in use changes by more than 5%.
${examples('tally prices update --from https://models.dev/api.json --dry-run', 'TALLY_PRICES_FROM=/etc/tally/prices.csv tally prices update')}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<UpdateFlags>()
      const { from, format, allowOlder, dryRun = false } = flags
      const { tableBody } = await priceService()
      await withServices(flags, async ({ priceUpdates, organization }, { by }) => {
        const { timeZone } = await organization.settings()
        const asOf = asOfMoment(flags, timeZone)
        const update = await withProgress((onProgress) =>
          priceUpdates.update({ from, format, asOf, allowOlder, dryRun, by, onProgress }),
        )
        const body = tableBody(update, { dryRun, load: update.load, valued: update.valued })
        if (flags.json) printJson(body)
        else {
          printTableBody(body, timeZone)
          if (!dryRun) print(loadedText(body.load, update.plan.additions.length))
          if (body.valued) printValued(body.valued)
        }
        if (!dryRun) await priceUpdates.sendNotices()
      })
    })
}
