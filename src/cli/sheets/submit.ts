import type { Command } from 'commander'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { confirm, isInteractive } from '../terminal/confirm.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { printOverlaps, printSheet, SHEET } from './sheet.ts'

export function addSheetsSubmitCommand(sheets: Command): void {
  sheets
    .command('submit')
    .description('Submit a sheet for approval; overlaps with reported entries are shown first')
    .argument('<sheet>', SHEET)
    .option('--confirm-overlaps', 'submit it even if entries overlap with reported ones')
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets submit sht_…', 'tally sheets submit sht_… --confirm-overlaps'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { confirmOverlaps?: boolean }>()
      const sheet = await withServices(flags, async (all, self) => {
        let { confirmOverlaps = false } = flags
        const { data } = await all.sheets.listOverlaps(id, self.viewer)
        if (data.length > 0 && !confirmOverlaps) {
          printOverlaps(data)
          if (!isInteractive()) {
            throw new CommandError(
              'Entries overlap, so nothing was changed. Remove those that are counted twice, or add --confirm-overlaps.',
            )
          }
          await confirm('Submit the sheet anyway?', { yes: false })
          confirmOverlaps = true
        }
        return all.sheets.submitSheet(id, self, { confirmOverlaps })
      })
      printSheet('Submitted', sheet, flags)
    })
}
