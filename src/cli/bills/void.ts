import type { Command } from 'commander'
import type { Bill } from '../../features/bills/schema.ts'
import { checked } from '../flags/body.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/numbers.ts'
import { print } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { actOnBill, BILL } from './bill.ts'
import { refusedInFlags } from './request.ts'

export function addBillsVoidCommand(bills: Command): void {
  asksFirst(bills.command('void'))
    .description('Void a bill or credit note: it keeps its number, and the entries of a bill can be billed again')
    .argument('<bill>', BILL)
    .requiredOption('--reason <text>', 'reason, shown on the void notice')
    .option('--no-notice', 'do not send a void notice to the recipients of the bill')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally bills void 2026-0001 --reason "Sent to the wrong address"'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { reason: string; notice: boolean; yes?: boolean }>()
      const { BillVoiding } = await import('../../features/bills/schema.ts')
      const body = { reason: flags.reason, deliver: flags.notice }
      await refusedInFlags(checked(BillVoiding, body))
      await actOnBill(
        flags,
        async (service, by) => {
          const { bill } = await service.getBill(which)
          await confirm(
            `Void ${bill.kind === 'bill' ? 'bill' : 'credit note'} ${bill.number}? This cannot be undone.`,
            flags,
          )
          return service.voidBill(bill.uid, body, by)
        },
        (bill) => {
          print(voidedText(bill))
          const told = bill.deliveries.filter(({ notice, state }) => notice === 'void' && state === 'queued')
          if (told.length > 0) print(`The server sends a void notice to ${told.map(({ to }) => to).join(', ')}.`)
          if (bill.kind === 'bill') print(`To send a replacement, use tally bills send --replaces ${bill.number}`)
        },
      )
    })
}

function voidedText({ kind, number, corrects, entries }: Bill): string {
  return kind === 'bill'
    ? `Voided bill ${number}; its ${counted(entries, 'entry', 'entries')} can be billed again.`
    : `Voided credit note ${number}; it no longer reduces what bill ${corrects!.number} charges.`
}
