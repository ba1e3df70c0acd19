import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addBillsCreditCommand } from './credit.ts'
import { addBillsDeliverCommand } from './deliver.ts'
import { addBillsExportCommand } from './export.ts'
import { addBillsListCommand } from './list.ts'
import { addBillsPaidCommand } from './paid.ts'
import { addBillsPreviewCommand } from './preview.ts'
import { addBillsSendCommand } from './send.ts'
import { addBillsShowCommand } from './show.ts'
import { addBillsUnpaidCommand } from './unpaid.ts'
import { addBillsVoidCommand } from './void.ts'

export function addBillsCommands(program: Command): void {
  const bills = program
    .command('bills')
    .description('Preview, send, list and export bills; record payments; void, credit and deliver')
    .addHelpText(
      'after',
      examples(
        'tally bills preview --month 2026-11 --client "Acme Ltd"',
        'tally bills send --month 2026-11 --client "Acme Ltd" --tax 19 --tax-name VAT',
        'tally bills export 2026-0001 --format pdf',
      ),
    )
  addBillsPreviewCommand(bills)
  addBillsSendCommand(bills)
  addBillsListCommand(bills)
  addBillsShowCommand(bills)
  addBillsExportCommand(bills)
  addBillsVoidCommand(bills)
  addBillsPaidCommand(bills)
  addBillsUnpaidCommand(bills)
  addBillsCreditCommand(bills)
  addBillsDeliverCommand(bills)
}
