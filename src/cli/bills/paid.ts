import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { actOnBill, BILL } from './bill.ts'
import { checked, refusedInFlags } from './request.ts'

export function addBillsPaidCommand(bills: Command): void {
  bills
    .command('paid')
    .description('Mark a bill as paid')
    .argument('<bill>', BILL)
    .option('--on <day>', 'payment date (default: today)')
    .option('--reference <text>', 'payment reference, such as of the transfer')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally bills paid 2026-0001 --on 2026-12-03 --reference "Transfer 4711"'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { on?: string; reference?: string }>()
      const { BillPayment } = await import('../../features/bills/schema.ts')
      const body = { on: flags.on, reference: flags.reference }
      await refusedInFlags(checked(BillPayment, body))
      await actOnBill(
        flags,
        (service, by) => service.payBill(which, body, by),
        ({ number, paid }) => print(`Marked bill ${number} as paid on ${paid!.on}.`),
      )
    })
}
