/** What the routes of bills have in common. */
import { createHash } from 'node:crypto'
import type { Static } from '@sinclair/typebox'
import type { Caller } from '../../access/caller.ts'
import type { Bill } from './schema.ts'
import type { BillSubmission, BillsService, BillView } from './service.ts'

export const BILL_PATH = { id: 'ID (bil_…) or number of the bill.' }

/** A bill's text goes out as it is kept; its type is that of what it holds, for clients typed by the routes. */
export const billAnswer = (bills: BillsService) => async (view: BillView) =>
  new Response(await bills.billText(view), {
    headers: { 'content-type': 'application/json' },
  }) as unknown as Static<typeof Bill>

/** Under an Idempotency-Key, if the request has one. Two bodies that say the same in the same order are the same to it. */
export function submittedUnder(
  key: string | undefined,
  { person }: Pick<Extract<Caller, { person: unknown }>, 'person'>,
  body: unknown,
): BillSubmission['key'] {
  if (key === undefined) return undefined
  return { userId: person.id, key, bodyHash: createHash('sha256').update(JSON.stringify(body)).digest() }
}
