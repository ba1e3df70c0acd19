/** Telemetry's data of sessions: totals by source, identities of counted calls, and other fields. */
import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { SessionFacts } from '../../../database/schema/records.ts'
import type { Known, ModelTotals, Point } from '../accounting.ts'

export interface TelemetrySession {
  facts: SessionFacts
  /** The address of a person that it may be assigned to. */
  email: string | null
  forgottenTo: number | null
}

const bytesOf = (hex: string) => Buffer.from(hex, 'hex')
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

async function findSession(reader: Reader, sessionId: number): Promise<TelemetrySession | undefined> {
  const [row] = await reader
    .prepared('telemetry-sessions.by-session', (prepare) => {
      const { telemetrySessions: table } = prepare.tables
      return prepare
        .select({ facts: table.facts, email: table.email, forgottenTo: table.forgottenTo })
        .from(table)
        .where(eq(table.sessionId, sql.placeholder('sessionId')))
    })
    .execute({ sessionId })
  return row
}

/** The data of a session that is relevant to points of these streams and calls with these identities. */
export async function getKnown(
  reader: Reader,
  sessionId: number,
  requested: { identities: string[]; streams: string[] },
): Promise<Known & { email: string | null }> {
  const session = await findSession(reader, sessionId)
  if (!session) {
    return { totals: [], seen: new Set(), streams: new Map(), facts: {}, forgottenTo: null, email: null }
  }
  return {
    ...session,
    totals: await listTotals(reader, sessionId),
    seen: await listSeen(reader, sessionId, requested.identities),
    streams: await listStreams(reader, sessionId, requested.streams),
  }
}

async function listTotals(reader: Reader, sessionId: number): Promise<ModelTotals[]> {
  return reader
    .prepared('telemetry-totals.by-session', (prepare) => {
      const { telemetryTotals: table } = prepare.tables
      return prepare
        .select({ source: table.source, modelKey: table.chainModelId, totals: table.totals })
        .from(table)
        .where(eq(table.sessionId, sql.placeholder('sessionId')))
    })
    .execute({ sessionId })
}

async function listSeen(reader: Reader, sessionId: number, identities: string[]): Promise<Set<string>> {
  const { telemetrySeen: table } = reader.tables
  const seen = new Set<string>()
  for (const portion of portionsOf(identities)) {
    const rows = await reader
      .select({ identity: table.identity })
      .from(table)
      .where(and(eq(table.sessionId, sessionId), inArray(table.identity, portion.map(bytesOf))))
    for (const { identity } of rows) seen.add(hexOf(identity))
  }
  return seen
}

async function listStreams(reader: Reader, sessionId: number, streams: string[]): Promise<Map<string, Point>> {
  const { telemetryStreams: table } = reader.tables
  const points = new Map<string, Point>()
  for (const portion of portionsOf(streams)) {
    const rows = await reader
      .select({ stream: table.stream, timeNanos: table.timeNanos, value: table.value })
      .from(table)
      .where(and(eq(table.sessionId, sessionId), inArray(table.stream, portion.map(bytesOf))))
    for (const { stream, ...point } of rows) points.set(hexOf(stream), point)
  }
  return points
}

export async function saveSession(
  tx: Tx,
  sessionId: number,
  session: { facts: SessionFacts; email: string | null; lastSeenAt: number },
): Promise<void> {
  await tx
    .prepared('telemetry-sessions.save', (prepare) => {
      const { telemetrySessions: table } = prepare.tables
      const columns = {
        facts: sql.placeholder('facts'),
        email: sql.placeholder('email'),
        lastSeenAt: sql.placeholder('lastSeenAt'),
        remembers: sql.placeholder('remembers'),
      }
      return prepare
        .insert(table)
        .values({ sessionId: sql.placeholder('sessionId'), ...columns } as never)
        .onConflictDoUpdate({ target: table.sessionId, set: columns as never })
        .returning({ sessionId: table.sessionId })
    })
    .execute({ sessionId, ...session, remembers: true })
}

export async function saveTotals(tx: Tx, sessionId: number, changed: Iterable<ModelTotals>): Promise<void> {
  const save = tx.prepared('telemetry-totals.save', (prepare) => {
    const { telemetryTotals: table } = prepare.tables
    const totals = sql.placeholder('totals')
    return prepare
      .insert(table)
      .values({
        sessionId: sql.placeholder('sessionId'),
        chainModelId: sql.placeholder('modelKey'),
        source: sql.placeholder('source'),
        totals,
      } as never)
      .onConflictDoUpdate({
        target: [table.sessionId, table.chainModelId, table.source],
        set: { totals } as never,
      })
      .returning({ sessionId: table.sessionId })
  })
  for (const { source, modelKey, totals } of changed) await save.execute({ sessionId, modelKey, source, totals })
}

export async function insertSeen(tx: Tx, sessionId: number, identities: string[]): Promise<void> {
  for (const portion of portionsOf(identities)) {
    await tx
      .insert(tx.tables.telemetrySeen)
      .values(portion.map((identity) => ({ sessionId, identity: bytesOf(identity) })))
  }
}

export async function saveStreams(tx: Tx, sessionId: number, streams: Map<string, Point>): Promise<void> {
  const { telemetryStreams: table } = tx.tables
  for (const [stream, point] of streams) {
    await tx
      .insert(table)
      .values({ sessionId, stream: bytesOf(stream), ...point })
      .onConflictDoUpdate({ target: [table.sessionId, table.stream], set: point })
  }
}

/** Sessions without data since `before` that still have identities of counted calls; the least recent first. */
export async function listInactive(reader: Reader, before: number, limit: number): Promise<number[]> {
  const { telemetrySessions: table } = reader.tables
  const rows = await reader
    .select({ sessionId: table.sessionId })
    .from(table)
    .where(and(eq(table.remembers, true), lt(table.lastSeenAt, before)))
    .orderBy(asc(table.lastSeenAt))
    .limit(limit)
  return rows.map(({ sessionId }) => sessionId)
}

/**
 * Deletes the identities of a session's counted calls; its totals stay. Does nothing if data has arrived meanwhile.
 * Returns whether it did.
 */
export async function forgetSeen(tx: Tx, sessionId: number, before: number): Promise<boolean> {
  const { telemetrySessions, telemetrySeen, telemetryTotals } = tx.tables
  const totals = await tx
    .select({ totals: telemetryTotals.totals })
    .from(telemetryTotals)
    .where(eq(telemetryTotals.sessionId, sessionId))
  const forgottenTo = Math.max(0, ...totals.map((each) => each.totals.ended_at))
  const changed = await tx
    .update(telemetrySessions)
    .set({ forgottenTo, remembers: false })
    .where(and(eq(telemetrySessions.sessionId, sessionId), lt(telemetrySessions.lastSeenAt, before)))
    .returning({ sessionId: telemetrySessions.sessionId })
  if (changed.length === 0) return false
  await tx.delete(telemetrySeen).where(eq(telemetrySeen.sessionId, sessionId))
  return true
}

/** Sessions that can be assigned to the person with this address, oldest first. */
export async function listOfEmail(reader: Reader, email: string): Promise<number[]> {
  const { telemetrySessions: table } = reader.tables
  const rows = await reader.select({ sessionId: table.sessionId }).from(table).where(eq(table.email, email))
  return rows.map(({ sessionId }) => sessionId).sort((a, b) => a - b)
}

export async function forgetEmail(tx: Tx, sessionId: number): Promise<void> {
  const { telemetrySessions: table } = tx.tables
  await tx.update(table).set({ email: null }).where(eq(table.sessionId, sessionId))
}

export interface WaitingEmail {
  email: string
  sessions: number
  lastSeenAt: number
}

/** Addresses whose sessions can be assigned, the most recent first. */
export async function listWaitingEmails(reader: Reader, limit: number): Promise<WaitingEmail[]> {
  const { telemetrySessions: table } = reader.tables
  const rows = await reader
    .select({
      email: table.email,
      sessions: sql<number>`count(*)`.mapWith(Number),
      lastSeenAt: sql<number>`max(${table.lastSeenAt})`.mapWith(Number),
    })
    .from(table)
    .where(sql`${table.email} IS NOT NULL`)
    .groupBy(table.email)
    .orderBy(sql`max(${table.lastSeenAt}) DESC`, asc(table.email))
    .limit(limit)
  return rows.map((row) => ({ ...row, email: row.email! }))
}
