/** Calls that are made under an Idempotency-Key, and done once. */
import type { Actor } from '../../access/actor.ts'
import type { Reader } from '../../database/database.ts'
import { keyReused } from './refusals.ts'
import { type BillView, findBillKey } from './store/bills.ts'

export interface BillSubmission {
  by: Actor
  /** The Idempotency-Key of a person's or a token's call, with the hash of the body. */
  key?: { userId: number; key: string; bodyHash: Uint8Array } | undefined
}

export interface Sent {
  bill: BillView
  /** Whether this is the response to an earlier call with the same Idempotency-Key. */
  replayed: boolean
}

/** The bill that was sent with an Idempotency-Key. Throws `idempotency_key_reused` for another body. */
export async function findReplayed(reader: Reader, submitted: BillSubmission['key']): Promise<number | undefined> {
  if (!submitted) return undefined
  const { userId, key, bodyHash } = submitted
  const known = await findBillKey(reader, userId, key)
  if (known && !Buffer.from(known.bodyHash).equals(bodyHash)) throw keyReused(key)
  return known?.billId
}
