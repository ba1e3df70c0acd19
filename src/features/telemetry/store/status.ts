/** Counters of telemetry arrivals and their outcomes, for people to look at. */
import { asc, type Column, desc, eq, type SQL, sql } from 'drizzle-orm'
import { addedValue } from '../../../database/added-value.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { Id } from '../../../lib/id.ts'

export type ChannelRecord = Tables['telemetryChannels']['$inferSelect']
export type UncountedRecord = Tables['telemetryUncounted']['$inferSelect']
export type PushRecord = Tables['telemetryPushes']['$inferSelect']

export async function addToChannels(tx: Tx, rows: ChannelRecord[]): Promise<void> {
  if (rows.length === 0) return
  const { telemetryChannels: t } = tx.tables
  await tx
    .insert(t)
    .values(rows)
    .onConflictDoUpdate({
      target: [t.harness, t.version, t.channel],
      set: {
        lastSeenAt: addedValue(t.lastSeenAt),
        counted: sum(t.counted),
        repeated: sum(t.repeated),
        late: sum(t.late),
        shrunk: sum(t.shrunk),
        tokens: sum(t.tokens),
      },
    })
}

export async function addToUncounted(tx: Tx, rows: UncountedRecord[]): Promise<void> {
  if (rows.length === 0) return
  const { telemetryUncounted: t } = tx.tables
  await tx
    .insert(t)
    .values(rows)
    .onConflictDoUpdate({
      target: [t.kind, t.what],
      set: { records: sum(t.records), lastSeenAt: addedValue(t.lastSeenAt) },
    })
}

export async function addToPushes(tx: Tx, rows: PushRecord[]): Promise<void> {
  if (rows.length === 0) return
  const { telemetryPushes: t } = tx.tables
  await tx
    .insert(t)
    .values(rows)
    .onConflictDoUpdate({
      target: t.tokenId,
      set: { requests: sum(t.requests), records: sum(t.records), lastSeenAt: addedValue(t.lastSeenAt) },
    })
}

function sum(column: Column): SQL {
  return sql`${column} + ${addedValue(column)}`
}

/** Keeps the most recent rows, so that unexpected names can't fill the disk. */
export async function deleteOldest(
  tx: Tx,
  limits: { channels: number; ignored: number; rejected: number },
): Promise<void> {
  const { telemetryChannels: c, telemetryUncounted: u } = tx.tables
  const tooMany = await tx
    .select({ harness: c.harness, version: c.version, channel: c.channel })
    .from(c)
    .orderBy(desc(c.lastSeenAt), asc(c.harness), asc(c.version), asc(c.channel))
    .limit(limits.channels)
    .offset(limits.channels)
  for (const { harness, version, channel } of tooMany) {
    await tx.delete(c).where(sql`${c.harness} = ${harness} AND ${c.version} = ${version} AND ${c.channel} = ${channel}`)
  }
  for (const kind of ['ignored', 'rejected'] as const) {
    const rows = await tx
      .select({ what: u.what })
      .from(u)
      .where(eq(u.kind, kind))
      .orderBy(desc(u.lastSeenAt), asc(u.what))
      .limit(limits[kind])
      .offset(limits[kind])
    for (const { what } of rows) await tx.delete(u).where(sql`${u.kind} = ${kind} AND ${u.what} = ${what}`)
  }
}

/** The most recent first. */
export async function listChannels(reader: Reader): Promise<ChannelRecord[]> {
  const { telemetryChannels: t } = reader.tables
  return reader.select().from(t).orderBy(desc(t.lastSeenAt), asc(t.harness), asc(t.version), asc(t.channel))
}

/** The most frequent first. */
export async function listUncounted(reader: Reader): Promise<UncountedRecord[]> {
  const { telemetryUncounted: t } = reader.tables
  return reader.select().from(t).orderBy(desc(t.records), asc(t.what))
}

export interface PushView extends Omit<PushRecord, 'tokenId'> {
  token: { uid: Id<'tok'>; name: string; hint: string }
}

export async function listPushes(reader: Reader): Promise<PushView[]> {
  const { telemetryPushes: t, tokens } = reader.tables
  return reader
    .select({
      token: { uid: tokens.uid, name: tokens.name, hint: tokens.hint },
      requests: t.requests,
      records: t.records,
      lastSeenAt: t.lastSeenAt,
    })
    .from(t)
    .innerJoin(tokens, eq(tokens.id, t.tokenId))
    .orderBy(desc(t.lastSeenAt), asc(t.tokenId))
}

/** The number of sessions of each harness, by its first spelling. */
export async function countSessions(reader: Reader): Promise<{ harness: string; sessions: number }[]> {
  const { telemetrySessions: t, sessions, names } = reader.tables
  return reader
    .select({ harness: names.text, sessions: sql<number>`count(*)`.mapWith(Number) })
    .from(t)
    .innerJoin(sessions, eq(sessions.id, t.sessionId))
    .innerJoin(names, eq(names.id, sessions.harnessId))
    .groupBy(names.text)
}
