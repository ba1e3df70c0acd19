import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { actOnSheet, SHEET } from './sheet.ts'

/** `tally sheets approve`, `return` and `withdraw-approval`. */
export function addSheetsApprovalCommands(sheets: Command): void {
  sheets
    .command('approve')
    .description('Approve a submitted sheet with all its entries')
    .argument('<sheet>', SHEET)
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets approve sht_…'))
    .action((id: string, _flags, command: Command) =>
      actOnSheet(command, 'Approved', ({ sheets }, self) => sheets.approveSheet(id, self)),
    )

  sheets
    .command('return')
    .description('Return a submitted sheet for correction')
    .argument('<sheet>', SHEET)
    .requiredOption('--reason <text>', 'reason, shown to the owner of the sheet')
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets return sht_… --reason "The session of the 12th was reported as well"'))
    .action((id: string, { reason }: { reason: string }, command: Command) =>
      actOnSheet(command, 'Returned', ({ sheets }, self) => sheets.returnSheet(id, reason, self)),
    )

  sheets
    .command('withdraw-approval')
    .description('Withdraw the approval of a sheet, which becomes submitted again')
    .argument('<sheet>', SHEET)
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets withdraw-approval sht_…'))
    .action((id: string, _flags, command: Command) =>
      actOnSheet(command, 'Withdrew the approval of', ({ sheets }, self) => sheets.withdrawApproval(id, self)),
    )
}
