/** Entries of a voided bill return to their previous status, and follow their session and work, which may have moved. */

import type { Actor } from '../../../access/actor.ts'
import type { Tx } from '../../../database/database.ts'
import { insertHistory } from '../history/store.ts'
import { followSessions } from '../session-owner.ts'
import { followWork, releaseEntries as release } from './store.ts'

/**
 * Entries on a bill stay in the project where they were billed when that is merged or their ticket moves. Once
 * released, they follow: otherwise no bill of the remaining project would include them, and no one would notice.
 */
export async function releaseEntries(tx: Tx, billId: number, { now, by }: { now: number; by: Actor }): Promise<void> {
  await followSessions(tx, await release(tx, billId), { at: now, by })
  const moved = await followWork(tx, billId, now)
  await insertHistory(
    tx,
    { action: 'placed', at: now, by },
    moved.map(({ entryId, project }) => ({ entryId, details: { project, because: 'bill_voided' } })),
  )
}
