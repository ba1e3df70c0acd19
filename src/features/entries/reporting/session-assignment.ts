/** Assigns a session that came by telemetry to another person, except for its locked entries. */

import type { Actor } from '../../../access/actor.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Status } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'
import type { FundingRedecision } from '../funding/redecision.ts'
import { recordHistory } from '../history/record.ts'
import { isLocked } from '../rows.ts'
import type { EntryRecord } from '../store.ts'
import { locksOfSessions } from './locks.ts'
import { isCertain } from './sessions.ts'
import { getName } from './store/names.ts'
import {
  changeManager,
  getManager,
  getSession,
  listSessionParts,
  listSessions,
  type Manager,
  updateSession,
} from './store/sessions.ts'

/**
 * `assigned`, or why not: the person already owns it; a service token has reported it, so its owner is certain; or the
 * person has another session with its id, and sessions can't be combined.
 */
export type Assignment = 'assigned' | 'theirs' | 'reported' | 'has_another'

export interface AssignedSession {
  harness: string
  session: string
  assignment: Assignment
  /** The previous owner. */
  from: Pick<Manager, 'uid' | 'name'>
  moved: Id<'ent'>[]
  /** Approved or billed entries, which keep their owner. */
  locked: { id: Id<'ent'>; status: Status }[]
}

export interface SessionTransfer {
  sessionId: number
  to: Pick<Manager, 'id' | 'uid'>
}

/** Reports what {@link assignSession} would do. */
export async function planAssignment(reader: Reader, { sessionId, to }: SessionTransfer): Promise<AssignedSession> {
  const session = await getSession(reader, sessionId)
  const parts = await listSessionParts(reader, sessionId)
  const { sessionKey, harnessId, managerId } = session
  const assignmentOf = async (): Promise<Assignment> => {
    if (managerId === to.id) return 'theirs'
    if (isCertain(session)) return 'reported'
    const others = await listSessions(reader, { sessionKey, harnessId })
    return others.some((other) => other.managerId === to.id) ? 'has_another' : 'assigned'
  }
  const assignment = await assignmentOf()
  const moves = (part: EntryRecord) => assignment === 'assigned' && !isLocked(part)
  return {
    harness: await getName(reader, parts[0]?.harnessId ?? harnessId),
    session: sessionKey,
    assignment,
    from: await getManager(reader, managerId),
    moved: parts.filter(moves).map(({ uid }) => uid),
    locked: parts.filter(isLocked).map(({ uid, status }) => ({ id: uid, status })),
  }
}

/** Locks sessions that are to be assigned, so that nothing is reported about them meanwhile. */
export async function lockSessions(tx: Tx, sessionIds: readonly number[]): Promise<void> {
  const locks = await locksOfSessions(tx, sessionIds)
  await tx.lockAll(() => locks)
}

/** Assigns a locked session; telemetry that arrives later belongs to the person as well. */
export async function assignSession(
  tx: Tx,
  transfer: SessionTransfer,
  { now, by, decideAgain }: { now: number; by: Actor; decideAgain: FundingRedecision['decideAgain'] },
): Promise<AssignedSession> {
  const planned = await planAssignment(tx, transfer)
  if (planned.assignment !== 'assigned') return planned
  const owner = { managerId: transfer.to.id, managerBy: 'email' } as const
  await updateSession(tx, transfer.sessionId, { ...owner, unidentified: false })
  const moved = await changeManager(tx, transfer.sessionId, owner)
  const details = { from: planned.from.uid, to: transfer.to.uid, because: 'telemetry_email' }
  await recordHistory(
    tx,
    { action: 'assigned', at: now, by },
    moved.map((entryId) => ({ entryId, details })),
  )
  await decideAgain(tx, moved, by)
  return planned
}
