/** Entries that could not change when their session got another owner, or was held, follow it once they can. */
import type { Tx } from '../../database/database.ts'
import { portionsOf } from '../../database/portions.ts'
import type { SessionDuplicate, Status } from '../../database/schema/values.ts'
import { recordHistory } from './history/record.ts'
import type { Change } from './history/store.ts'
import { changeStatuses, listFollowed, updateManagers } from './store.ts'

/** The status of submitted entries of a session that may be another person's. */
export function submittedStatus(duplicate: SessionDuplicate | null): Status {
  return duplicate === 'held' || duplicate === 'discarded' ? duplicate : 'submitted'
}

/**
 * Gives entries that may change again to the owners of their sessions, as if they had been unlocked when the session was
 * adopted or assigned, and holds or discards those that are submitted again as their session is. Returns the status of
 * the latter.
 */
export async function followSessions(
  tx: Tx,
  unlocked: readonly number[],
  { at, by }: Pick<Change, 'at' | 'by'>,
): Promise<Map<number, Status>> {
  const statuses = new Map<number, Status>()
  for (const ids of portionsOf(unlocked)) {
    const followed = await listFollowed(tx, ids)
    const strayed = followed.filter(({ from, to }) => from !== to.managerId)
    await updateManagers(
      tx,
      strayed.map(({ id, to }) => ({ id, ...to })),
    )
    await recordHistory(
      tx,
      { action: 'assigned', at, by },
      strayed.map(({ id }) => ({ entryId: id, details: { because: 'session_owner' } })),
    )
    for (const to of ['held', 'discarded'] as const) {
      const counted = followed.filter(
        ({ status, duplicate }) => status === 'submitted' && submittedStatus(duplicate) === to,
      )
      for (const { id } of counted) statuses.set(id, to)
      if (counted.length === 0) continue
      await changeStatuses(
        tx,
        counted.map(({ id }) => id),
        to,
      )
      await recordHistory(
        tx,
        { action: to, at, by },
        counted.map(({ id }) => ({
          entryId: id,
          details: { status: { from: 'submitted', to }, because: 'same_session' },
        })),
      )
    }
  }
  return statuses
}
