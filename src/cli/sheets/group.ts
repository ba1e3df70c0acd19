import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addSheetsAddCommand } from './add.ts'
import { addSheetsApprovalCommands } from './approval.ts'
import { addSheetsChangeCommand } from './change.ts'
import { addSheetsImportCommand } from './import.ts'
import { addSheetsListCommand } from './list.ts'
import { addSheetsOpenCommand } from './open.ts'
import { addSheetsRemoveCommands } from './remove.ts'
import { addSheetsShowCommand } from './show.ts'
import { addSheetsSubmitCommand } from './submit.ts'
import { addSheetsTemplateCommand } from './template.ts'

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
  addSheetsRemoveCommands(sheets)
  addSheetsSubmitCommand(sheets)
  addSheetsApprovalCommands(sheets)
}
