/** A bill on the command line. */
import type { Bill } from '../../features/bills/schema.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { note } from '../terminal/print.ts'

/** A body of the API with exact numbers, as if it were read from JSON. */
export const exact = <Shape>(value: unknown) => parseExactJson(JSON.stringify(value)) as Shape

/** To whom the server delivers a bill; undefined, and a note, if to nobody. */
export function deliveryText({ number, deliveries }: Bill): string | undefined {
  const waiting = deliveries.filter(({ state }) => state === 'queued')
  if (waiting.length > 0) {
    return `The server delivers it to ${waiting.map(({ to }) => to).join(', ')}. To check the delivery: tally bills show ${number}`
  }
  note('It is not delivered by e-mail: there is no recipient, or no mail server is configured (TALLY_SMTP_URL).')
  note(`To create its PDF: tally bills export ${number}`)
  return undefined
}
