/** Sessions, their chains of parts, and the totals of each of their sources. */

import { and, asc, eq, inArray, isNull, ne, notInArray, or, type SQL, sql } from 'drizzle-orm'
import { addedValue } from '../../../../database/added-value.ts'
import type { Reader, Tx } from '../../../../database/database.ts'
import { portionsOf } from '../../../../database/portions.ts'
import type { SessionTotals } from '../../../../database/schema/records.ts'
import type { Tables } from '../../../../database/schema/tables.ts'
import type { ManagerBy, SessionSource } from '../../../../database/schema/values.ts'
import type { Id } from '../../../../lib/id.ts'
import { hashOfSessionId } from '../../../../lib/session-id.ts'
import { notingChanges } from '../../../spending/contract.ts'
import { type EntryChange, type EntryRecord, isOfSessions, LOCKED_STATUSES } from '../../store.ts'

/** The owner of a session and its entries. */
export interface Manager {
  id: number
  uid: Id<'usr'>
  name: string
  email: string
}

export type SessionRecord = Tables['sessions']['$inferSelect']

/** Identifies sessions by their id and the canonical key of their harness. */
export interface SessionKey {
  sessionKey: string
  harnessId: number
}

/**
 * For each key, all sessions with this harness and id, of any owner, oldest first; locked until the transaction ends. If
 * some sessions have only the hash of their id, those with the hash of this one belong to it.
 */
export async function lockSessionsOf(
  tx: Tx,
  keys: readonly SessionKey[],
  { hashedSessionIds }: { hashedSessionIds: boolean },
): Promise<SessionRecord[][]> {
  const found = await lockSessions(tx, keys)
  if (!hashedSessionIds) return found
  const hashed = await lockSessions(
    tx,
    keys.map(({ sessionKey, harnessId }) => ({ sessionKey: hashOfSessionId(sessionKey), harnessId })),
  )
  return found.map((sessions, position) => [...sessions, ...hashed[position]!].sort((a, b) => a.id - b.id))
}

async function lockSessions(tx: Tx, keys: readonly SessionKey[]): Promise<SessionRecord[][]> {
  const found = await tx.findEach(
    'sessions.lock-by-key',
    (prepare) => prepare.locking(selectByKey(prepare), prepare.tables.sessions),
    keys.map(({ sessionKey, harnessId }) => ({ sessionKey, harnessId })),
  )
  return found.map((sessions) => sessions.sort((a, b) => a.id - b.id))
}

/** All sessions with this harness and id, as they are stored, of any owner. */
export async function listSessions(reader: Reader, key: SessionKey): Promise<SessionRecord[]> {
  return reader.prepared('sessions.by-key', selectByKey).execute({ ...key })
}

function selectByKey(reader: Reader) {
  const { sessions } = reader.tables
  return reader
    .select()
    .from(sessions)
    .where(
      and(eq(sessions.sessionKey, sql.placeholder('sessionKey')), eq(sessions.harnessId, sql.placeholder('harnessId'))),
    )
}

export async function insertSessions(tx: Tx, sessions: readonly SessionRecord[]): Promise<void> {
  await tx.insertAll(tx.tables.sessions, sessions)
}

export async function updateSessions(tx: Tx, sessions: readonly SessionRecord[]): Promise<void> {
  await tx.updateAll(
    tx.tables.sessions,
    sessions.map(({ id, source, contested, managerId, managerBy, unidentified, byOrganization, duplicate, zone }) => ({
      id,
      source,
      contested,
      managerId,
      managerBy,
      unidentified,
      byOrganization,
      duplicate,
      zone,
    })),
  )
}

export async function getSession(reader: Reader, id: number): Promise<SessionRecord> {
  const { sessions } = reader.tables
  const [row] = await reader.select().from(sessions).where(eq(sessions.id, id))
  return row!
}

export async function updateSession(
  tx: Tx,
  id: number,
  change: Pick<SessionRecord, 'managerId' | 'managerBy' | 'unidentified'>,
): Promise<void> {
  await tx.updateAll(tx.tables.sessions, [{ id, ...change }])
}

/** All parts of all models of a session, by model and part. */
export async function listSessionParts(reader: Reader, sessionId: number): Promise<EntryRecord[]> {
  const { entries } = reader.tables
  return reader
    .select()
    .from(entries)
    .where(eq(entries.sessionId, sessionId))
    .orderBy(asc(entries.chainModelId), asc(entries.part))
}

export interface SourceTotals {
  chainModelId: number
  source: SessionSource
  totals: SessionTotals
}

/** For each session, the totals of its sources. */
export async function listSourceTotalsOf(reader: Reader, sessionIds: readonly number[]): Promise<SourceTotals[][]> {
  return reader.findEach(
    'session-sources.by-session',
    (prepare) => {
      const { sessionSources } = prepare.tables
      return prepare
        .select({
          chainModelId: sessionSources.chainModelId,
          source: sessionSources.source,
          totals: sessionSources.totals,
        })
        .from(sessionSources)
        .where(eq(sessionSources.sessionId, sql.placeholder('sessionId')))
    },
    sessionIds.map((sessionId) => ({ sessionId })),
  )
}

export async function saveSourceTotals(tx: Tx, rows: readonly (SourceTotals & { sessionId: number })[]): Promise<void> {
  if (rows.length === 0) return
  const { sessionSources } = tx.tables
  for (const portion of portionsOf(rows)) {
    await tx
      .insert(sessionSources)
      .values(portion)
      .onConflictDoUpdate({
        target: [sessionSources.sessionId, sessionSources.chainModelId, sessionSources.source],
        set: { totals: addedValue(sessionSources.totals) },
      })
  }
}

export async function getManagers(reader: Reader, ids: readonly number[]): Promise<Manager[]> {
  const found = await reader.findEach(
    'users.manager',
    (prepare) => {
      const { users } = prepare.tables
      return prepare
        .select({ id: users.id, uid: users.uid, name: users.name, email: users.email })
        .from(users)
        .where(eq(users.id, sql.placeholder('id')))
    },
    ids.map((id) => ({ id })),
  )
  return found.map(([row]) => row!)
}

export async function getManager(reader: Reader, id: number): Promise<Manager> {
  const [manager] = await getManagers(reader, [id])
  return manager!
}

/** Gives the unlocked parts of a session to another manager, and returns their keys. */
export async function changeManager(
  tx: Tx,
  sessionId: number,
  { managerId, managerBy }: { managerId: number; managerBy: ManagerBy },
): Promise<number[]> {
  const { entries } = tx.tables
  return changing(
    tx,
    and(
      isOfSessions(tx, [sessionId]),
      or(ne(entries.managerId, managerId), ne(entries.managerBy, managerBy)),
      notInArray(entries.status, [...LOCKED_STATUSES]),
    ),
    { managerId, managerBy },
  )
}

/** Moves a person's unlocked entries on a ticket that had no project for them, and returns their keys. */
export function moveOwnTicketEntries(
  tx: Tx,
  { ticketId, projectId, managerId }: { ticketId: number; projectId: number; managerId: number },
): Promise<number[]> {
  const { entries } = tx.tables
  return moveTicketEntries(
    tx,
    projectId,
    and(eq(entries.ticketId, ticketId), eq(entries.managerId, managerId), isNull(entries.projectId)),
  )
}

/** Moves everyone's unlocked entries on a ticket to the project that was decided for it, and returns their keys. */
export function moveAllTicketEntries(tx: Tx, ticketId: number, projectId: number): Promise<number[]> {
  const { entries } = tx.tables
  return moveTicketEntries(
    tx,
    projectId,
    and(eq(entries.ticketId, ticketId), or(isNull(entries.projectId), ne(entries.projectId, projectId))),
  )
}

async function moveTicketEntries(tx: Tx, projectId: number, condition: SQL | undefined): Promise<number[]> {
  const { entries } = tx.tables
  return changing(tx, and(condition, notInArray(entries.status, [...LOCKED_STATUSES])), { projectId })
}

/** Changes entries that match, and returns their keys. */
async function changing(tx: Tx, condition: SQL | undefined, change: EntryChange): Promise<number[]> {
  const { entries } = tx.tables
  const matching = tx.select({ id: entries.id }).from(entries).where(condition)
  const ids = (await tx.locking(matching, entries)).map(({ id }) => id)
  await notingChanges(tx, ids, async () => {
    for (const portion of portionsOf(ids)) await tx.update(entries).set(change).where(inArray(entries.id, portion))
  })
  return ids
}
