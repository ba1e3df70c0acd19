/** A bill on the command line. */
import type { Actor } from '../../access/actor.ts'
import type { Bill } from '../../features/bills/schema.ts'
import type { BillsService, BillView } from '../../features/bills/service.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { note, print } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { refusedInFlags } from './request.ts'

/** The service, loaded with the database and not before: `--help` does without it. */
export const billService = () => import('../../features/bills/service.ts')

export const BILL = 'number or id (bil_…) of the bill'

/** A body of the API with exact numbers, as if it were read from JSON. */
export const exact = <Shape>(value: unknown) => parseExactJson(JSON.stringify(value)) as Shape

/** A bill as the API returns it: the JSON text and the parsed value. */
export async function billOf(bills: BillsService, view: BillView): Promise<{ text: string; bill: Bill }> {
  const text = await bills.billText(view)
  return { text, bill: parseExactJson(text) as Bill }
}

/** Changes one bill and prints the result. */
export async function actOnBill(
  flags: CommandFlags,
  work: (bills: BillsService, by: Actor) => Promise<BillView>,
  show: (bill: Bill) => void,
): Promise<void> {
  const { text, bill } = await refusedInFlags(
    withServices(flags, async ({ bills }, { by }) => billOf(bills, await work(bills, by))),
  )
  if (flags.json) print(text)
  else show(bill)
}

export function printDelivery({ number, deliveries }: Bill): void {
  const waiting = deliveries.filter(({ state }) => state === 'queued')
  if (waiting.length > 0) {
    print(
      `The server delivers it to ${waiting.map(({ to }) => to).join(', ')}. To check the delivery: tally bills show ${number}`,
    )
  } else {
    note('It is not delivered by e-mail: there is no recipient, or no mail server is configured (TALLY_SMTP_URL).')
    note(`To create its PDF: tally bills export ${number}`)
  }
}
