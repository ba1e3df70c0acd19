import type { Command } from 'commander'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { confirm, isInteractive } from '../terminal/confirm.ts'
import { actOnSheet, printOverlaps, SHEET } from './sheet.ts'

export function addSheetsSubmitCommand(sheets: Command): void {
  sheets
    .command('submit')
    .description('Submit a sheet for approval; overlaps with reported entries are shown first')
    .argument('<sheet>', SHEET)
    .option('--confirm-overlaps', 'submit it even if entries overlap with reported ones')
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets submit sht_…', 'tally sheets submit sht_… --confirm-overlaps'))
    .action(async (id: string, _flags, command: Command) => {
      let { confirmOverlaps = false } = command.optsWithGlobals<{ confirmOverlaps?: boolean }>()
      await actOnSheet(command, 'Submitted', async ({ sheets }, self) => {
        const { data } = await sheets.listOverlaps(id, self.viewer)
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
        return sheets.submitSheet(id, self, { confirmOverlaps })
      })
    })
}
