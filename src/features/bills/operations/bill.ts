/** What the operations of bills have in common. */
import { createHash } from 'node:crypto'
import { serialized } from '../../../lib/serialized.ts'
import { type Call, result, type Served } from '../../../operations/operation.ts'
import { EXAMPLE_BILL } from '../examples.ts'
import { Bill } from '../schema.ts'
import type { BillSubmission, BillsService, BillView, Sent } from '../service.ts'

export interface Needs {
  bills: BillsService
}

/** Themselves or by a read token. */
export const READING = {
  tag: 'Bills',
  allow: { read: ['billing', 'admin'], session: ['billing', 'admin'] },
  scope: 'bills:read',
} as const

export const CHANGING = { tag: 'Bills', allow: { session: ['billing', 'admin'] }, scope: 'bills:write' } as const

export const params = { id: 'Id (bil_…) or number of the bill.' }
export const one = { object: 'bil', params } as const

export const BILL = result('The bill.', Bill, EXAMPLE_BILL)

/** A bill's text goes out as it is kept. */
export const seen = async (bills: BillsService, view: BillView) =>
  serialized<Bill>(await bills.billText(view), view.bill.uid)

/** The response to what is done once under an Idempotency-Key. */
export function submitted(bills: BillsService, { set }: Served, { bill, replayed }: Sent): Promise<Bill> {
  if (replayed) {
    set.status = 200
    set.headers['idempotent-replayed'] = 'true'
  }
  return seen(bills, bill)
}

/** By whom it is done, and under which Idempotency-Key. Two bodies that say the same in the same order are the same to it. */
export function submissionOf(
  { party: { person, by }, idempotencyKey: key }: Pick<Call, 'party' | 'idempotencyKey'>,
  body: unknown,
): BillSubmission {
  if (key === undefined || person === null) return { by }
  return { by, key: { userId: person.id, key, bodyHash: createHash('sha256').update(JSON.stringify(body)).digest() } }
}
