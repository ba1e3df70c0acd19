import type { Command } from 'commander'
import { checked, numberOf } from '../flags/body.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { actOnBill, BILL } from './bill.ts'
import { refusedInFlags } from './request.ts'
import { balanceText } from './text.ts'

interface UnpaidFlags extends CommandFlags {
  reason: string
  payment?: string
}

export function addBillsUnpaidCommand(bills: Command): void {
  bills
    .command('unpaid')
    .description('Reverse the payments of a bill, or one of them: they stay listed, but no longer count')
    .argument('<bill>', BILL)
    .requiredOption('--reason <text>', 'reason, such as "The direct debit was returned"')
    .option('--payment <number>', 'reverse only this payment, as numbered by `tally bills show`')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally bills unpaid 2026-0001 --reason "Recorded for the wrong bill"',
        'tally bills unpaid 2026-0001 --payment 2 --reason "The direct debit was returned"',
      ),
    )
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<UnpaidFlags>()
      const { PaymentReversal } = await import('../../features/bills/schema.ts')
      const body = { reason: flags.reason }
      await refusedInFlags(checked(PaymentReversal, body))
      const payment = numberOf('--payment', flags.payment)
      await actOnBill(
        flags,
        (service, by) => service.unpayBill(which, payment === undefined ? body : { ...body, payment }, by),
        (bill) => print(`Reversed; ${balanceText(bill)} of bill ${bill.number} is open.`),
      )
    })
}
