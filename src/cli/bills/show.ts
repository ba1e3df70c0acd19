import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { BILL, billOf } from './bill.ts'
import { printBill } from './text.ts'

export function addBillsShowCommand(bills: Command): void {
  bills
    .command('show')
    .description('Show a bill: its lines, totals, state and deliveries')
    .argument('<bill>', BILL)
    .option('--json', 'print JSON, as returned by GET /api/v1/bills/{id}')
    .addHelpText('after', examples('tally bills show 2026-0001'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { text, bill } = await withServices(flags, async (all) => billOf(all.bills, await all.bills.getBill(which)))
      if (flags.json) return print(text)
      printBill(bill)
    })
}
