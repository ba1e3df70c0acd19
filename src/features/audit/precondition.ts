/** Refuses a change of what somebody else has changed since the caller read it. */
import type { Actor } from '../../access/actor.ts'
import { concerns } from '../../access/precondition.ts'
import type { Tx } from '../../database/database.ts'
import { Problem } from '../../errors.ts'
import { timestamp } from '../../lib/duration.ts'
import { findLastChange, type LastChange, readVersion } from './store/versions.ts'

/**
 * Throws `changed_meanwhile` (412) if the actor requires another version of the object than it has. Ask within the
 * transaction of the change, before it is recorded. On PostgreSQL, of two simultaneous transactions that change the
 * object's row, the second one runs again and finds the change of the first.
 */
export async function requireUnchanged(
  tx: Tx,
  { precondition }: Pick<Actor, 'precondition'>,
  objectId: string,
): Promise<void> {
  if (!precondition || !concerns(precondition, objectId) || precondition.isMet) return
  if (precondition.metIn.has(tx.run)) return
  if (!precondition.versions.includes(await readVersion(tx, objectId))) {
    throw changedMeanwhile(await findLastChange(tx, objectId))
  }
  precondition.metIn.add(tx.run)
  tx.afterCommit(() => {
    precondition.isMet = true
  })
}

function changedMeanwhile(last: LastChange | undefined): Problem {
  const who = last?.user?.name ?? 'Somebody'
  const when = last ? ` on ${timestamp(last.at)}` : ''
  return new Problem(
    'changed_meanwhile',
    `${who} changed this${when}, after you read it. Read it again, and repeat your change if it is still right.`,
    {
      changed: {
        at: last ? timestamp(last.at) : null,
        by: last?.user ? { id: last.user.uid, name: last.user.name } : null,
      },
    },
  )
}
