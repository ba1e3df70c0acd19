import type { Command } from 'commander'
import type { BillDelivery } from '../../features/bills/schema.ts'
import { checked } from '../flags/body.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { collect, examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import type { CommandFlags } from '../with-services.ts'
import { actOnBill, BILL, printDelivery } from './bill.ts'
import { recipientsOf, refusedInFlags } from './request.ts'

export function addBillsDeliverCommand(bills: Command): void {
  asksFirst(bills.command('deliver'))
    .description('Send a bill by e-mail again, or to other addresses; for a void bill, send the void notice')
    .argument('<bill>', BILL)
    .option('--to <addresses>', 'e-mail addresses instead of the client’s; repeatable or comma-separated', collect)
    .option('--message <text>', 'message at the start of the e-mail')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally bills deliver 2026-0001 --to ada@acme.example --message "As you asked."'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { to?: string[]; message?: string; yes?: boolean }>()
      const { BillDelivery: schema } = await import('../../features/bills/schema.ts')
      const body = { to: recipientsOf(flags.to), message: flags.message }
      const asked = (await refusedInFlags(checked(schema, body))) as BillDelivery
      await confirm(`Send an e-mail about bill ${which}${asked.to ? ` to ${asked.to.join(', ')}` : ''}?`, flags)
      await actOnBill(flags, (service, by) => service.deliverBill(which, asked, by), printDelivery)
    })
}
