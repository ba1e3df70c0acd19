import type { Command } from 'commander'
import type { Bill, BillDocument, BillSending } from '../../features/bills/schema.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { checked } from '../flags/body.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { NONE } from '../flags/none.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { print } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { deliveryText, exact } from './bill.ts'
import { addBillFlags, addresses, type BillFlags, readBillFlags, refusedInFlags, withUsualBasis } from './request.ts'
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
    .option('--deliver-to <addresses>', 'e-mail addresses instead of the client’s; none to skip delivery', addresses)
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
  const { json = false, yes = false, message, deliverTo } = flags
  const isNotDelivered = deliverTo?.length === 1 && deliverTo[0] === NONE
  const { BillSending } = await import('../../features/bills/schema.ts')
  const text = await refusedInFlags(
    readBillFlags(flags).then((given) =>
      withServices(flags, async ({ bills, organization }, { by }) => {
        const body = await withUsualBasis(given, { organization })
        const delivery = { deliver_to: isNotDelivered ? [] : deliverTo, message }
        const sending = (await checked(BillSending, delivery)) as Pick<BillSending, 'deliver_to' | 'message'>
        const { digest, period_is_over: isOver, document } = await bills.preview(body)
        const preview = exact<BillDocument>(document)
        if (!json) printPreview(preview)
        if (!json) print('')
        const unfinished = `The period lasts until ${preview.period.to}: what is recorded for the rest of it needs another bill.`
        if (!isOver && yes && !json) print(unfinished)
        await confirm(`${isOver ? '' : `${unfinished} `}Send this bill for ${totalText(preview)}?`, { yes })
        return bills.billText((await bills.send({ ...body, ...sending, digest }, { by })).bill)
      }),
    ),
  )
  if (json) return print(text)
  const bill = parseExactJson(text) as Bill
  print(`Sent bill ${bill.number} (${bill.id}): ${totalText(bill.document)}, due ${bill.due_on}.`)
  const delivered = deliveryText(bill)
  if (delivered !== undefined) print(delivered)
}
