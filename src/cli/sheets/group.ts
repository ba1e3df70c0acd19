import type { Command } from 'commander'
import { removeTokenSheetEntry } from '../../features/sheets/operations/entries.ts'
import {
  approveTokenSheet,
  getTokenSheet,
  removeTokenSheet,
  returnTokenSheet,
  withdrawApprovalOfTokenSheet,
} from '../../features/sheets/operations/sheets.ts'
import { examples } from '../flags/options.ts'
import { addAction } from '../operations.ts'
import { counted } from '../terminal/numbers.ts'
import { addSheetsAddCommand } from './add.ts'
import { addSheetsChangeCommand } from './change.ts'
import { addSheetsImportCommand } from './import.ts'
import { addSheetsListCommand } from './list.ts'
import { addSheetsOpenCommand } from './open.ts'
import { sheetText } from './sheet.ts'
import { addSheetsShowCommand } from './show.ts'
import { addSheetsSubmitCommand } from './submit.ts'
import { addSheetsTemplateCommand } from './template.ts'

const subject = 'sheet'

export function addSheetsCommands(program: Command): void {
  const sheets = program
    .command('sheets')
    .description('Enter usage by hand on token sheets, and submit and approve them')
    .addHelpText(
      'after',
      examples(
        'tally sheets template > november.csv',
        'tally sheets open --person ada@example.com --month 2026-11',
        'tally sheets import sht_… november.csv',
      ),
    )
  addSheetsListCommand(sheets)
  addSheetsShowCommand(sheets)
  addSheetsTemplateCommand(sheets)
  addSheetsOpenCommand(sheets)
  addSheetsImportCommand(sheets)
  addSheetsAddCommand(sheets)
  addSheetsChangeCommand(sheets)
  addAction(sheets, removeTokenSheetEntry, {
    name: 'remove-entry',
    description: 'Permanently remove a draft entry',
    subject: [subject, 'entry'],
    examples: ['tally sheets remove-entry sht_… ent_…'],
    confirm: (entry) => `Permanently remove ${entry}?`,
    show: (_, entry) => `Removed ${entry}.`,
  })
  addAction(sheets, removeTokenSheet, {
    name: 'remove',
    description: 'Remove an open or returned sheet with its draft entries',
    subject,
    examples: ['tally sheets remove sht_…'],
    first: getTokenSheet,
    confirm: (sheet, { entries }) => `Permanently remove ${sheet} and its ${counted(entries, 'entry', 'entries')}?`,
    show: (_, sheet) => `Removed ${sheet}.`,
  })
  addSheetsSubmitCommand(sheets)
  addAction(sheets, approveTokenSheet, {
    name: 'approve',
    description: 'Approve a submitted sheet with all its entries',
    subject,
    examples: ['tally sheets approve sht_…'],
    show: (sheet) => sheetText('Approved', sheet),
  })
  addAction(sheets, returnTokenSheet, {
    name: 'return',
    description: 'Return a submitted sheet for correction',
    subject,
    flags: { reason: { flag: '--reason <text>', doc: 'reason, shown to the owner of the sheet' } },
    examples: ['tally sheets return sht_… --reason "The session of the 12th was reported as well"'],
    show: (sheet) => sheetText('Returned', sheet),
  })
  addAction(sheets, withdrawApprovalOfTokenSheet, {
    name: 'withdraw-approval',
    description: 'Withdraw the approval of a sheet, which becomes submitted again',
    subject,
    examples: ['tally sheets withdraw-approval sht_…'],
    show: (sheet) => sheetText('Withdrew the approval of', sheet),
  })
}
