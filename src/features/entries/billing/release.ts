/** Entries of a bill that is void: as they were before it, and with their work, which may have moved since. */

import type { Actor } from '../../../access/actor.ts'
import type { Tx } from '../../../database/database.ts'
import { insertHistory } from '../history/store.ts'
import { followWork, releaseEntries as release } from './store.ts'

/**
 * What is on a bill stays where it was billed when its project is merged or its ticket moves. Free again, it follows:
 * else it would be on no bill of the project that stays, and nobody would miss it there.
 */
export async function releaseEntries(tx: Tx, billId: number, { now, by }: { now: number; by: Actor }): Promise<void> {
  await release(tx, billId)
  const moved = await followWork(tx, billId, now)
  await insertHistory(
    tx,
    { action: 'placed', at: now, by },
    moved.map(({ entryId, project }) => ({ entryId, details: { project, because: 'bill_voided' } })),
  )
}
