/** The table `limit_readings`: how much of the limits of their plans people had used, hour by hour. */

import type { SQL } from 'drizzle-orm'
import { and, asc, eq, gte, inArray, lt, max, or } from 'drizzle-orm'
import { type Viewer, visibleLimits } from '../../../access/visibility.ts'
import { addedValue } from '../../../database/added-value.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { Id } from '../../../lib/id.ts'

export type LimitRecord = Omit<Tables['limitReadings']['$inferSelect'], 'id'>

/** What identifies a limit of a person. */
export type LimitKey = Pick<LimitRecord, 'harness' | 'name' | 'windowMinutes'>

export const keyOf = ({ harness, name, windowMinutes }: LimitKey) => JSON.stringify([harness, name, windowMinutes])

export function listOfHour(tx: Tx, userId: number, hour: number): Promise<LimitRecord[]> {
  const { limitReadings: t } = tx.tables
  return tx
    .select()
    .from(t)
    .where(and(eq(t.userId, userId), eq(t.hour, hour)))
}

export async function saveReadings(tx: Tx, rows: LimitRecord[]): Promise<void> {
  if (rows.length === 0) return
  const { limitReadings: t } = tx.tables
  await tx
    .insert(t)
    .values(rows)
    .onConflictDoUpdate({
      target: [t.userId, t.harness, t.name, t.windowMinutes, t.hour],
      set: {
        highest: addedValue(t.highest),
        used: addedValue(t.used),
        resetsAt: addedValue(t.resetsAt),
        plan: addedValue(t.plan),
        credits: addedValue(t.credits),
        readAt: addedValue(t.readAt),
      },
    })
}

export async function hasReading(tx: Tx, userId: number, key: LimitKey): Promise<boolean> {
  const { limitReadings: t } = tx.tables
  const rows = await tx
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.userId, userId), isOf(t, key)))
    .limit(1)
  return rows.length > 0
}

/** Keeps the limits of the person that were read last, with all of their readings. */
export async function deleteOldestLimits(tx: Tx, userId: number, kept: number): Promise<void> {
  const { limitReadings: t } = tx.tables
  const limits = await tx
    .select({ harness: t.harness, name: t.name, windowMinutes: t.windowMinutes, hour: max(t.hour) })
    .from(t)
    .where(eq(t.userId, userId))
    .groupBy(t.harness, t.name, t.windowMinutes)
  limits.sort((one, other) => Number(other.hour) - Number(one.hour))
  const gone = limits.slice(kept)
  if (gone.length > 0) await tx.delete(t).where(and(eq(t.userId, userId), or(...gone.map((key) => isOf(t, key)))))
}

export async function deleteReadingsBefore(tx: Tx, before: number): Promise<void> {
  const { limitReadings: t } = tx.tables
  await tx.delete(t).where(lt(t.hour, before))
}

const isOf = (t: Tables['limitReadings'], { harness, name, windowMinutes }: LimitKey): SQL =>
  and(eq(t.harness, harness), eq(t.name, name), eq(t.windowMinutes, windowMinutes))!

export interface LimitFilter {
  from: number
  until: number
  /** Ids or folded e-mail addresses of people. */
  users?: readonly string[] | undefined
  harnesses?: readonly string[] | undefined
}

export interface LatestReading {
  reading: LimitRecord
  user: { uid: Id<'usr'>; name: string }
}

function conditionOf(reader: Reader, viewer: Viewer, { from, until, users: whose, harnesses }: LimitFilter) {
  const { limitReadings: t, users } = reader.tables
  return and(
    visibleLimits(reader, viewer),
    gte(t.hour, from),
    lt(t.hour, until),
    whose && or(inArray(users.uid, whose as Id<'usr'>[]), inArray(users.email, [...whose])),
    harnesses && inArray(t.harness, [...harnesses]),
  )
}

/** Of each limit that the viewer sees, the latest reading. */
export async function listLatest(reader: Reader, viewer: Viewer, filter: LimitFilter): Promise<LatestReading[]> {
  const { limitReadings: t, users } = reader.tables
  const latest = reader
    .select({
      userId: t.userId,
      harness: t.harness,
      name: t.name,
      windowMinutes: t.windowMinutes,
      hour: max(t.hour).as('latest_hour'),
    })
    .from(t)
    .innerJoin(users, eq(users.id, t.userId))
    .where(conditionOf(reader, viewer, filter))
    .groupBy(t.userId, t.harness, t.name, t.windowMinutes)
    .as('latest')
  return reader
    .select({ reading: t, user: { uid: users.uid, name: users.name } })
    .from(latest)
    .innerJoin(
      t,
      and(
        eq(t.userId, latest.userId),
        eq(t.harness, latest.harness),
        eq(t.name, latest.name),
        eq(t.windowMinutes, latest.windowMinutes),
        eq(t.hour, latest.hour),
      ),
    )
    .innerJoin(users, eq(users.id, t.userId))
    .orderBy(asc(t.id))
}

/** The readings of these people in these hours. */
export function listHighest(
  reader: Reader,
  userIds: readonly number[],
  { from, until }: LimitFilter,
): Promise<Pick<LimitRecord, 'userId' | 'harness' | 'name' | 'windowMinutes' | 'hour' | 'highest'>[]> {
  const { limitReadings: t } = reader.tables
  return reader
    .select({
      userId: t.userId,
      harness: t.harness,
      name: t.name,
      windowMinutes: t.windowMinutes,
      hour: t.hour,
      highest: t.highest,
    })
    .from(t)
    .where(and(inArray(t.userId, [...userIds]), gte(t.hour, from), lt(t.hour, until)))
}
