/** Sessions, their chains of parts, and the totals of each of their sources. */
import { and, asc, eq, isNull, ne, notInArray, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../../database/database.ts'
import type { SessionTotals } from '../../../../database/schema/records.ts'
import type { Tables } from '../../../../database/schema/tables.ts'
import type { ManagerBy, SessionSource } from '../../../../database/schema/values.ts'
import type { Id } from '../../../../lib/id.ts'
import { type EntryRecord, LOCKED_STATUSES } from '../../store.ts'

/** The owner of a session and its entries. */
export interface Manager {
  id: number
  uid: Id<'usr'>
  name: string
  email: string
}

export type SessionRecord = Tables['sessions']['$inferSelect']

/**
 * Gets or creates the session, and locks it until the transaction ends, so that on PostgreSQL too two reports of it are
 * processed one after the other.
 */
export async function lockSession(
  tx: Tx,
  session: Pick<
    SessionRecord,
    'sessionKey' | 'harnessId' | 'managerId' | 'source' | 'managerBy' | 'unidentified' | 'byOrganization'
  >,
): Promise<SessionRecord> {
  const [row] = await tx
    .prepared('sessions.lock', (prepare) => {
      const { sessions } = prepare.tables
      return prepare
        .insert(sessions)
        .values({
          sessionKey: sql.placeholder('sessionKey'),
          harnessId: sql.placeholder('harnessId'),
          managerId: sql.placeholder('managerId'),
          source: sql.placeholder('source'),
          contested: false,
          managerBy: sql.placeholder('managerBy'),
          unidentified: sql.placeholder('unidentified'),
          byOrganization: sql.placeholder('byOrganization'),
        })
        .onConflictDoUpdate({
          target: [sessions.sessionKey, sessions.harnessId, sessions.managerId],
          set: { sessionKey: sql`${sessions.sessionKey}` },
        })
        .returning()
    })
    .execute(session)
  return row!
}

/** All sessions with this harness and id, of any owner, oldest first. */
export async function listSessions(
  reader: Reader,
  session: { sessionKey: string; harnessId: number },
): Promise<SessionRecord[]> {
  const found = await reader
    .prepared('sessions.by-key', (prepare) => {
      const { sessions } = prepare.tables
      return prepare
        .select()
        .from(sessions)
        .where(
          and(
            eq(sessions.sessionKey, sql.placeholder('sessionKey')),
            eq(sessions.harnessId, sql.placeholder('harnessId')),
          ),
        )
    })
    .execute(session)
  return found.sort((a, b) => a.id - b.id)
}

export async function getSession(reader: Reader, id: number): Promise<SessionRecord> {
  const { sessions } = reader.tables
  const [row] = await reader.select().from(sessions).where(eq(sessions.id, id))
  return row!
}

export async function updateSession(
  tx: Tx,
  id: number,
  change: Partial<
    Pick<SessionRecord, 'source' | 'contested' | 'managerId' | 'managerBy' | 'unidentified' | 'byOrganization'>
  >,
): Promise<void> {
  const { sessions } = tx.tables
  await tx.update(sessions).set(change).where(eq(sessions.id, id))
}

/** The parts of one model of a session, in order. */
export async function listParts(reader: Reader, sessionId: number, chainModelId: number): Promise<EntryRecord[]> {
  const parts = await reader
    .prepared('entries.parts', (prepare) => {
      const { entries } = prepare.tables
      return prepare
        .select()
        .from(entries)
        .where(
          and(
            eq(entries.sessionId, sql.placeholder('sessionId')),
            eq(entries.chainModelId, sql.placeholder('chainModelId')),
          ),
        )
    })
    .execute({ sessionId, chainModelId })
  return parts.sort((a, b) => a.part! - b.part!)
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

export async function listSourceTotals(reader: Reader, sessionId: number): Promise<SourceTotals[]> {
  const { sessionSources } = reader.tables
  return reader
    .select({ chainModelId: sessionSources.chainModelId, source: sessionSources.source, totals: sessionSources.totals })
    .from(sessionSources)
    .where(eq(sessionSources.sessionId, sessionId))
}

export async function saveSourceTotals(
  tx: Tx,
  sessionId: number,
  { chainModelId, source, totals }: SourceTotals,
): Promise<void> {
  const { sessionSources } = tx.tables
  await tx
    .insert(sessionSources)
    .values({ sessionId, chainModelId, source, totals })
    .onConflictDoUpdate({
      target: [sessionSources.sessionId, sessionSources.chainModelId, sessionSources.source],
      set: { totals },
    })
}

/** As few as possible while transactions that begin different sessions rarely wait for each other. */
const TURNS = 1_024

/**
 * On PostgreSQL, waits until no other transaction begins a session with this id, and runs the body again if one has.
 * Otherwise two that begin it for different people at the same moment, such as a hook and telemetry, would not see each
 * other.
 */
export async function takeTurn(tx: Tx, { sessionKey, harnessId }: { sessionKey: string; harnessId: number }) {
  const turn = Number(Bun.hash.xxHash32(`${harnessId} ${sessionKey}`)) % TURNS
  const { sessionTurns } = tx.tables
  await tx
    .insert(sessionTurns)
    .values({ turn, taken: 1 })
    .onConflictDoUpdate({ target: sessionTurns.turn, set: { taken: sql`${sessionTurns.taken} + 1` } })
}

export async function getManager(reader: Reader, id: number): Promise<Manager> {
  const { users } = reader.tables
  const [row] = await reader
    .select({ id: users.id, uid: users.uid, name: users.name, email: users.email })
    .from(users)
    .where(eq(users.id, id))
  return row!
}

/** Gives the unlocked parts of a session to another manager, and returns their keys. */
export async function changeManager(
  tx: Tx,
  sessionId: number,
  { managerId, managerBy }: { managerId: number; managerBy: ManagerBy },
): Promise<number[]> {
  const { entries } = tx.tables
  const changed = await tx
    .update(entries)
    .set({ managerId, managerBy })
    .where(
      and(
        eq(entries.sessionId, sessionId),
        or(ne(entries.managerId, managerId), ne(entries.managerBy, managerBy)),
        notInArray(entries.status, [...LOCKED_STATUSES]),
      ),
    )
    .returning({ id: entries.id })
  return changed.map(({ id }) => id)
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
  const moved = await tx
    .update(entries)
    .set({ projectId })
    .where(and(condition, notInArray(entries.status, [...LOCKED_STATUSES])))
    .returning({ id: entries.id })
  return moved.map(({ id }) => id)
}
