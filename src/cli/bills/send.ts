import type { Command } from 'commander'
import type { BillDocument, BillSending } from '../../features/bills/schema.ts'
import { checked } from '../flags/body.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { collect, examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { print } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { billOf, exact, printDelivery } from './bill.ts'
import { addBillFlags, type BillFlags, readBillFlags, recipientsOf, refusedInFlags } from './request.ts'
import { printPreview, totalText } from './text.ts'

interface SendFlags extends CommandFlags, BillFlags {
  deliverTo?: string[]
  message?: string
  yes?: boolean
}

export function addBillsSendCommand(bills: Command): void {
  asksFirst(
    addBillFlags(bills.command('send').description('Send a bill: freeze its entries, assign a number and deliver it')),
  )
    .option('--deliver-to <addresses>', 'e-mail addresses instead of the client’s; none to skip delivery', collect)
    .option('--message <text>', 'message at the start of the e-mail')
    .option('--json', 'print JSON, as returned by POST /api/v1/bills')
    .addHelpText(
      'after',
      examples(
        'tally bills send --month 2026-11 --client "Acme Ltd" --tax 19 --tax-name VAT',
        'tally bills send --month 2026-11 --client Globex --currency EUR --exchange-rate 0.92 --line "Set-up=250" --yes',
      ),
    )
    .action(async (_flags, command: Command) => {
      await send(command.optsWithGlobals<SendFlags>())
    })
}

async function send(flags: SendFlags): Promise<void> {
  const { json = false, yes = false, message } = flags
  const { BillSending } = await import('../../features/bills/schema.ts')
  const { text, bill } = await refusedInFlags(
    readBillFlags(flags).then((body) =>
      withServices(flags, async ({ bills }, { by }) => {
        const asked = { deliver_to: recipientsOf(flags.deliverTo), message }
        const sending = (await checked(BillSending, asked)) as Pick<BillSending, 'deliver_to' | 'message'>
        const { digest, period_is_over: isOver, document } = await bills.preview(body)
        const preview = exact<BillDocument>(document)
        if (!json) printPreview(preview)
        if (!json) print('')
        const unfinished = `The period lasts until ${preview.period.to}: what is recorded for the rest of it needs another bill.`
        if (!isOver && yes && !json) print(unfinished)
        await confirm(`${isOver ? '' : `${unfinished} `}Send this bill for ${totalText(preview)}?`, { yes })
        return billOf(bills, (await bills.send({ ...body, ...sending, digest }, { by })).bill)
      }),
    ),
  )
  if (json) return print(text)
  print(`Sent bill ${bill.number} (${bill.id}): ${totalText(bill.document)}, due ${bill.due_on}.`)
  printDelivery(bill)
}
