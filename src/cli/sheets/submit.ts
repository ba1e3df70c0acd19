import type { Command } from 'commander'
import { CommandError } from '../failures.ts'
import { asksFirst, DEPENDS_ON_DATA } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm, isInteractive } from '../terminal/confirm.ts'
import { actOnSheet, printOverlaps, SHEET } from './sheet.ts'

export function addSheetsSubmitCommand(sheets: Command): void {
  asksFirst(sheets.command('submit'), DEPENDS_ON_DATA)
    .description('Submit a sheet for approval; overlaps with reported entries are shown first')
    .argument('<sheet>', SHEET)
    .option('--confirm-overlaps', 'submit it even if entries overlap with reported ones')
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets submit sht_…', 'tally sheets submit sht_… --confirm-overlaps'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<{ confirmOverlaps?: boolean; yes?: boolean }>()
      const yes = flags.confirmOverlaps || flags.yes
      await actOnSheet(command, 'Submitted', async ({ sheets }, self) => {
        const { data } = await sheets.listOverlaps(id, self.viewer)
        if (data.length > 0 && !yes) {
          printOverlaps(data)
          if (!isInteractive()) {
            throw new CommandError(
              'Entries overlap, so nothing was changed. Remove those that are counted twice, or add --confirm-overlaps or --yes.',
            )
          }
          await confirm('Submit the sheet anyway?', {})
        }
        return sheets.submitSheet(id, self, { confirmOverlaps: yes || data.length > 0 })
      })
    })
}
