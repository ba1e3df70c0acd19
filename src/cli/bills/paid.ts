import type { Command } from 'commander'
import type { Bill, BillPayment } from '../../features/bills/schema.ts'
import { checked, numberOf } from '../flags/body.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { actOnBill, BILL } from './bill.ts'
import { refusedInFlags } from './request.ts'
import { balanceText } from './text.ts'

interface PaidFlags extends CommandFlags {
  amount?: string
  on?: string
  reference?: string
}

export function addBillsPaidCommand(bills: Command): void {
  bills
    .command('paid')
    .description('Record a payment of a bill, of the whole open balance or of a part')
    .argument('<bill>', BILL)
    .option('--amount <amount>', 'paid amount in the currency of the bill (default: the open balance)')
    .option('--on <day>', 'payment date (default: today)')
    .option('--reference <text>', 'payment reference, such as of the transfer')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally bills paid 2026-0001 --on 2026-12-03 --reference "Transfer 4711"',
        'tally bills paid 2026-0001 --amount 250',
      ),
    )
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<PaidFlags>()
      const { BillPayment: schema } = await import('../../features/bills/schema.ts')
      const body = { amount: numberOf('--amount', flags.amount), on: flags.on, reference: flags.reference }
      const asked = (await refusedInFlags(checked(schema, body))) as BillPayment
      await actOnBill(flags, async (service, by) => (await service.payBill(which, asked, { by })).bill, printPaid)
    })
}

function printPaid(bill: Bill): void {
  if (bill.paid) print(`Marked bill ${bill.number} as paid on ${bill.paid.on}.`)
  else print(`Recorded a payment of bill ${bill.number}; ${balanceText(bill)} is still open.`)
}
