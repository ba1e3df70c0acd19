import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { printSheet, SHEET } from './sheet.ts'

/** `tally sheets approve`, `return` and `withdraw-approval`. */
export function addSheetsApprovalCommands(sheets: Command): void {
  sheets
    .command('approve')
    .description('Approve a submitted sheet with all its entries')
    .argument('<sheet>', SHEET)
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets approve sht_…'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const sheet = await withServices(flags, (all, self) => all.sheets.approveSheet(id, self))
      printSheet('Approved', sheet, flags)
    })

  sheets
    .command('return')
    .description('Return a submitted sheet for correction')
    .argument('<sheet>', SHEET)
    .requiredOption('--reason <text>', 'reason, shown to the owner of the sheet')
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets return sht_… --reason "The session of the 12th was reported as well"'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { reason: string }>()
      const sheet = await withServices(flags, (all, self) => all.sheets.returnSheet(id, flags.reason, self))
      printSheet('Returned', sheet, flags)
    })

  sheets
    .command('withdraw-approval')
    .description('Withdraw the approval of a sheet, which becomes submitted again')
    .argument('<sheet>', SHEET)
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets withdraw-approval sht_…'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const sheet = await withServices(flags, (all, self) => all.sheets.withdrawApproval(id, self))
      printSheet('Withdrew the approval of', sheet, flags)
    })
}
