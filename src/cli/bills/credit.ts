import type { Command } from 'commander'
import type { CreditNoteRequest } from '../../features/bills/schema.ts'
import { checked } from '../flags/body.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { print } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { actOnBill, BILL } from './bill.ts'
import { each, readLine, refusedInFlags } from './request.ts'
import { totalText } from './text.ts'

export function addBillsCreditCommand(bills: Command): void {
  asksFirst(bills.command('credit'))
    .description('Correct a paid bill with a credit note, for given lines or for the whole remaining amount')
    .argument('<bill>', BILL)
    .option('--line <text=amount>', 'amount to credit, such as "Billed twice=12.50"; repeatable', each)
    .option('--note <text>', 'note above the lines')
    .option('--release', 'release the entries of the bill, so that they can be billed again')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally bills credit 2026-0001 --line "Billed twice=12.50"',
        'tally bills credit 2026-0001',
        'tally bills credit 2026-0001 --release',
      ),
    )
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<
        CommandFlags & { line?: string[]; note?: string; release?: boolean; yes?: boolean }
      >()
      const { CreditNoteRequest: schema } = await import('../../features/bills/schema.ts')
      const body = { lines: flags.line?.map(readLine), note: flags.note, release: flags.release }
      const asked = (await refusedInFlags(checked(schema, body))) as CreditNoteRequest
      const what = flags.line ? 'these lines' : 'the whole remaining amount'
      const freed = flags.release ? ' and release its entries' : ''
      await confirm(`Credit ${what} of bill ${which}${freed}? This cannot be undone.`, flags)
      await actOnBill(
        flags,
        (service, by) => service.creditBill(which, asked, by),
        (bill) => {
          print(
            `Created credit note ${bill.number} (${bill.id}) for bill ${bill.corrects!.number}: ${totalText(bill.document)}.`,
          )
          if (flags.release) print(`The entries of bill ${bill.corrects!.number} can be billed again.`)
          print(`To send it by e-mail: tally bills deliver ${bill.number}`)
        },
      )
    })
}
