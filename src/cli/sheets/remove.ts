import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { print } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { SHEET } from './sheet.ts'

/** `tally sheets remove-entry` and `remove`. */
export function addSheetsRemoveCommands(sheets: Command): void {
  sheets
    .command('remove-entry')
    .description('Permanently remove a draft entry')
    .argument('<sheet>', SHEET)
    .argument('<entry>', 'id of the entry (ent_…)')
    .option('--yes', 'skip the confirmation')
    .addHelpText('after', examples('tally sheets remove-entry sht_… ent_…'))
    .action(async (id: string, entryId: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { yes?: boolean }>()
      await confirm(`Permanently remove ${entryId}?`, { yes: flags.yes ?? false })
      await withServices(flags, (all, self) => all.sheets.removeEntry(id, entryId, self))
      print(`Removed ${entryId}.`)
    })

  sheets
    .command('remove')
    .description('Remove an open or returned sheet with its draft entries')
    .argument('<sheet>', SHEET)
    .option('--yes', 'skip the confirmation')
    .addHelpText('after', examples('tally sheets remove sht_…'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { yes?: boolean }>()
      await withServices(flags, async (all, self) => {
        const { entries } = await all.sheets.getSheet(id, self.viewer)
        if (entries > 0) await confirm(`Remove ${id} and its ${entries} entries?`, { yes: flags.yes ?? false })
        await all.sheets.removeSheet(id, self)
      })
      print(`Removed ${id}.`)
    })
}
