/**
 * Entries of a bill that is voided, credited or not sent after all return to their previous status, and follow their
 * session and work, which may have moved.
 */

import type { Actor } from '../../../access/actor.ts'
import type { Tx } from '../../../database/database.ts'
import { recordEvents } from '../../events/service.ts'
import { recordHistory } from '../history/record.ts'
import { followSessions } from '../session-owner.ts'
import { findFrozen, followWork, getBill, removeFromLines, unfreezeEntries } from './store.ts'

/** Why entries follow their work: by the state of their bill. A bill that was credited is not voided. */
const REASONS = {
  preparing: 'bill_not_sent',
  sent: 'bill_credited',
  paid: 'bill_credited',
  void: 'bill_voided',
} as const

/**
 * Entries on a bill stay in the project where they were billed when that is merged or their ticket moves. Once
 * released, they follow: otherwise no bill of the remaining project would include them, and no one would notice.
 *
 * Releases the first `limit` entries that the bill still has, and returns whether there were any.
 */
export async function releaseEntries(
  tx: Tx,
  billId: number,
  { limit, now, by }: { limit: number; now: number; by: Actor },
): Promise<boolean> {
  const range = await findFrozen(tx, billId, limit)
  if (!range) return false
  const released = { ...range, now }
  const { uid, state } = await getBill(tx, billId)
  const because = REASONS[state]
  const unfrozen = await unfreezeEntries(tx, billId, released)
  await recordEvents(
    tx,
    unfrozen.map(({ id, status }) => ({
      type: 'entry.unbilled',
      entryId: id,
      by: { userId: by.userId, tokenId: by.tokenId },
      before: { status: 'billed', bill: { id: uid } },
      after: { status, bill: null, because },
    })),
    now,
  )
  const submitted = unfrozen.filter(({ status }) => status === 'submitted').map(({ id }) => id)
  await followSessions(tx, submitted, { at: now, by })
  const moved = await followWork(tx, billId, released)
  await recordHistory(
    tx,
    { action: 'placed', at: now, by },
    moved.map(({ entryId, project }) => ({ entryId, details: { project, because } })),
  )
  if (because === 'bill_not_sent') await removeFromLines(tx, billId, range)
  return true
}
