import type { Command } from 'commander'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/numbers.ts'
import { print } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { SHEET } from './sheet.ts'

/** `tally sheets remove-entry` and `remove`. */
export function addSheetsRemoveCommands(sheets: Command): void {
  asksFirst(sheets.command('remove-entry'))
    .description('Permanently remove a draft entry')
    .argument('<sheet>', SHEET)
    .argument('<entry>', 'id of the entry (ent_…)')
    .addHelpText('after', examples('tally sheets remove-entry sht_… ent_…'))
    .action(async (id: string, entryId: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { yes?: boolean }>()
      await confirm(`Permanently remove ${entryId}?`, flags)
      await withServices(flags, (all, self) => all.sheets.removeEntry(id, entryId, self))
      print(`Removed ${entryId}.`)
    })

  asksFirst(sheets.command('remove'))
    .description('Remove an open or returned sheet with its draft entries')
    .argument('<sheet>', SHEET)
    .addHelpText('after', examples('tally sheets remove sht_…'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { yes?: boolean }>()
      await withServices(flags, async (all, self) => {
        const { entries } = await all.sheets.getSheet(id, self.viewer)
        await confirm(`Permanently remove ${id} and its ${counted(entries, 'entry', 'entries')}?`, flags)
        await all.sheets.removeSheet(id, self)
      })
      print(`Removed ${id}.`)
    })
}
