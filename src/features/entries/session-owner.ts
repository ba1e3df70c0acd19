/** Entries that were locked when their session got another owner follow it once they are unlocked. */
import type { Tx } from '../../database/database.ts'
import { portionsOf } from '../../database/portions.ts'
import { type Change, insertHistory } from './history/store.ts'
import { listSessionOwners, updateManagers } from './store.ts'

/**
 * Gives entries that may change again to the owners of their sessions, as if they had been unlocked when the session was
 * adopted or assigned.
 */
export async function followSessions(
  tx: Tx,
  unlocked: readonly number[],
  { at, by }: Pick<Change, 'at' | 'by'>,
): Promise<void> {
  for (const ids of portionsOf(unlocked)) {
    const strayed = (await listSessionOwners(tx, ids)).filter(({ from, to }) => from !== to.managerId)
    await updateManagers(
      tx,
      strayed.map(({ id, to }) => ({ id, ...to })),
    )
    await insertHistory(
      tx,
      { action: 'assigned', at, by },
      strayed.map(({ id }) => ({ entryId: id, details: { because: 'session_owner' } })),
    )
  }
}
