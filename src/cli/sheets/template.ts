import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { sheetService } from './sheet.ts'

export function addSheetsTemplateCommand(sheets: Command): void {
  sheets
    .command('template')
    .description('Print the CSV header of a file to fill in and import')
    .addHelpText('after', examples('tally sheets template > november.csv'))
    .action(async () => {
      const { TEMPLATE } = await sheetService()
      process.stdout.write(TEMPLATE)
    })
}
