/** The roll-up's time zones, periods, columns and marks. See job.ts for when they are valid. */
import { and, asc, eq, gt, gte, inArray, lt, lte, min, ne, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { RollupLevel } from '../../../database/schema/values.ts'
import { ALL_TIMES, hoursOf, type Period, type Range, type RollupState } from '../plan.ts'
import {
  type ColumnName,
  ENTRIES_GRAIN,
  FORMAT,
  type Segment,
  type StoredColumns,
  segmentOf,
  TOGETHER,
} from '../segment.ts'

/**
 * Changes which periods and marks there are. Servers that share a database do so one after the other, so that each sees
 * what the others did: of a change whose mark one of them takes, no other misses the stale day or leaves a build that
 * began before.
 */
export function changePeriods<Result>(db: Database, body: (tx: Tx) => Promise<Result>): Promise<Result> {
  return db.write(
    async (tx) => {
      await tx.lockAll(() => ['rollup periods'])
      return body(tx)
    },
    { isolation: 'read committed' },
  )
}

export function listZones(reader: Reader): Promise<{ zone: string; ready: boolean }[]> {
  return reader
    .prepared('rollup.zones', (prepare) => {
      const { rollupZones } = prepare.tables
      return prepare.select().from(rollupZones).orderBy(asc(rollupZones.zone))
    })
    .execute()
}

export async function insertZone(tx: Tx, zone: string): Promise<void> {
  await tx.insert(tx.tables.rollupZones).values({ zone, ready: false }).onConflictDoNothing()
}

export async function setZoneReady(tx: Tx, zone: string): Promise<void> {
  const { rollupZones } = tx.tables
  await tx.update(rollupZones).set({ ready: true }).where(eq(rollupZones.zone, zone))
}

/** Drops a time zone: from now on no report uses its periods. */
export async function removeZone(tx: Tx, zone: string): Promise<void> {
  const { rollupZones, rollupPeriods } = tx.tables
  await tx.delete(rollupZones).where(eq(rollupZones.zone, zone))
  await tx.update(rollupPeriods).set({ state: 'old' }).where(eq(rollupPeriods.zone, zone))
}

function reachesInto({ rollupPeriods: p }: Tables, { from, to }: Range): SQL | undefined {
  return and(lt(p.startsAt, to), gt(p.endsAt, from))
}

/**
 * The state that a report needs to plan its reading. The marks are read first: one that is taken in between then makes
 * its day stale, also for a reader that does not see one state of the database.
 */
export async function readState(reader: Reader, zone: string, range: Range, format = FORMAT): Promise<RollupState> {
  const staleHours = await listStaleHours(reader, range)
  return { zone, periods: await listPeriods(reader, zone, range, format), staleHours }
}

/**
 * The days and months of a time zone that overlap with a range, by start. Those of a format before `format` are not valid:
 * their days are stale, and there are no such months.
 */
export async function listPeriods(reader: Reader, zone: string, range: Range, format = FORMAT): Promise<Period[]> {
  const rows = await reader
    .prepared('rollup.periods', (prepare) => {
      const { rollupPeriods: p } = prepare.tables
      return prepare
        .select({ id: p.id, level: p.level, startsAt: p.startsAt, endsAt: p.endsAt, state: p.state, format: p.format })
        .from(p)
        .where(
          and(
            inArray(p.state, ['clean', 'stale']),
            eq(p.zone, sql.placeholder('zone')),
            lt(p.startsAt, sql.placeholder('to')),
            gt(p.endsAt, sql.placeholder('from')),
          ),
        )
        .orderBy(asc(p.startsAt))
    })
    .execute({ zone, ...range })
  return rows.flatMap(({ format: own, ...period }) => {
    if (own >= format) return [period as Period]
    return period.level === 'day' ? [{ ...period, state: 'stale' } as Period] : []
  })
}

/** Before and after all hours that marks may have. */
const ALL_HOURS = { first: -1e12, last: 1e12 }
const ALL = 2 ** 31

export async function listStaleHours(reader: Reader, range?: Range, limit = ALL): Promise<number[]> {
  const { first, last } = range ? hoursOf(range) : ALL_HOURS
  const rows = await reader
    .prepared('rollup.stale-hours', (prepare) => {
      const { staleHours: h } = prepare.tables
      return prepare
        .selectDistinct({ hour: h.hour })
        .from(h)
        .where(and(gte(h.hour, sql.placeholder('first')), lte(h.hour, sql.placeholder('last'))))
        .orderBy(asc(h.hour))
        .limit(sql.placeholder('limit'))
    })
    .execute({ first, last, limit })
  return rows.map(({ hour }) => hour)
}

/** Whether there are any marks. */
export async function isAnythingMarked(reader: Reader): Promise<boolean> {
  const { staleHours } = reader.tables
  return (await reader.select().from(staleHours).limit(1)).length > 0
}

/** When the first session began at or after a moment; undefined if none did. */
export async function findNextStart(reader: Reader, from: number): Promise<number | undefined> {
  const [row] = await reader
    .prepared('rollup.next-start', (prepare) => {
      const { entries } = prepare.tables
      return prepare
        .select({ start: min(entries.startedAt) })
        .from(entries)
        .where(gte(entries.startedAt, sql.placeholder('from')))
    })
    .execute({ from })
  return row?.start ?? undefined
}

/**
 * Deletes marks: only those that this transaction sees, so that concurrent changes stay marked. Where there are plans, their
 * shares are to be calculated for these hours, too.
 */
export async function deleteMarks(tx: Tx, hours: number[]): Promise<void> {
  const { staleHours, unallocatedHours } = tx.tables
  await tx.delete(staleHours).where(inArray(staleHours.hour, hours))
  const [plan] = await tx
    .prepared('rollup.plans', (prepare) => {
      const { plans } = prepare.tables
      return prepare.select({ id: plans.id }).from(plans).limit(1)
    })
    .execute({})
  if (!plan) return
  await tx
    .insert(unallocatedHours)
    .values(hours.map((hour) => ({ hour })))
    .onConflictDoNothing()
}

/** Sets periods with known changes to stale, in all time zones. Builds of them are not finished any more. */
export async function markPeriods(tx: Tx, ranges: Range[]): Promise<void> {
  const { rollupPeriods: p } = tx.tables
  const hull = { from: ranges[0]!.from, to: ranges.at(-1)!.to }
  const periods = await tx
    .select({ id: p.id, level: p.level, state: p.state, startsAt: p.startsAt, endsAt: p.endsAt })
    .from(p)
    .where(and(inArray(p.state, ['clean', 'building']), reachesInto(tx.tables, hull)))
  const touched = periods.filter(({ startsAt, endsAt }) =>
    ranges.some(({ from, to }) => startsAt < to && endsAt > from),
  )
  for (const state of ['stale', 'old'] as const) {
    const ids = touched
      .filter((period) => (period.level === 'day' && period.state === 'clean') === (state === 'stale'))
      .map(({ id }) => id)
    if (ids.length > 0) await tx.update(p).set({ state }).where(inArray(p.id, ids))
  }
}

/** Adds the days of a time zone that have no row yet, as stale. */
export async function insertStaleDays(tx: Tx, zone: string, days: Range[], now: number): Promise<void> {
  if (days.length === 0) return
  const { rollupPeriods: p } = tx.tables
  const starts = days.map(({ from }) => from)
  const known = await tx
    .select({ startsAt: p.startsAt })
    .from(p)
    .where(and(inArray(p.state, ['clean', 'stale']), eq(p.level, 'day'), eq(p.zone, zone), inArray(p.startsAt, starts)))
  const knownStarts = new Set(known.map(({ startsAt }) => startsAt))
  const missing = days.filter(({ from }) => !knownStarts.has(from))
  if (missing.length === 0) return
  await tx.insert(p).values(
    missing.map(({ from, to }) => ({
      zone,
      level: 'day' as const,
      startsAt: from,
      endsAt: to,
      state: 'stale' as const,
      format: FORMAT,
      createdAt: now,
    })),
  )
}

/** All periods of a time zone that are in use, by start. */
export async function listCleanPeriods(reader: Reader, zone: string): Promise<Period[]> {
  return (await listPeriods(reader, zone, ALL_TIMES)).filter(({ state }) => state === 'clean')
}

/** Whether the period's sums are valid: it is in use, and none of its hours is marked. */
export async function holds(reader: Reader, { id, startsAt, endsAt }: Period): Promise<boolean> {
  const { rollupPeriods: p, staleHours: h } = reader.tables
  const { first, last } = hoursOf({ from: startsAt, to: endsAt })
  const marks = sql`(SELECT count(*) FROM ${h} WHERE ${and(gte(h.hour, first), lte(h.hour, last))})`
  const [row] = await reader
    .select({ id: p.id })
    .from(p)
    .where(and(eq(p.id, id), eq(p.state, 'clean'), sql`${marks} = 0`))
  return row !== undefined
}

export interface NewPeriod extends Range {
  zone: string
  level: RollupLevel
}

/** Begins to build a period. From its commit on, every change that the job learns of ends the build. */
export async function insertBuilding(tx: Tx, { zone, level, from, to }: NewPeriod, now: number): Promise<number> {
  const { rollupPeriods } = tx.tables
  const [row] = await tx
    .insert(rollupPeriods)
    .values({ zone, level, startsAt: from, endsAt: to, state: 'building', format: FORMAT, createdAt: now })
    .returning({ id: rollupPeriods.id })
  return row!.id
}

/** Inserts columns of a period that is being built. */
export async function insertColumns(tx: Tx, periodId: number, columns: readonly StoredColumns[]): Promise<void> {
  if (columns.length > 0) {
    await tx.insert(tx.tables.rollupColumns).values(columns.map((column) => ({ periodId, ...column })))
  }
}

/** Replaces all other rows of its day or month with the built period; returns false if its build has ended. */
export async function finishBuilding(tx: Tx, id: number, { zone, level, from }: NewPeriod): Promise<boolean> {
  const { rollupPeriods: p } = tx.tables
  const finished = await tx
    .update(p)
    .set({ state: 'clean' })
    .where(and(eq(p.id, id), eq(p.state, 'building')))
    .returning({ id: p.id })
  if (finished.length === 0) return false
  await tx
    .update(p)
    .set({ state: 'old' })
    .where(and(eq(p.zone, zone), eq(p.level, level), eq(p.startsAt, from), ne(p.id, id)))
  return true
}

/** Ends the build of a period. */
export async function endBuilding(tx: Tx, id: number): Promise<void> {
  const { rollupPeriods: p } = tx.tables
  await tx
    .update(p)
    .set({ state: 'old' })
    .where(and(eq(p.id, id), eq(p.state, 'building')))
}

export async function endBuildings(tx: Tx): Promise<void> {
  const { rollupPeriods: p } = tx.tables
  await tx.update(p).set({ state: 'old' }).where(eq(p.state, 'building'))
}

export async function findOldPeriod(reader: Reader): Promise<number | undefined> {
  const { rollupPeriods: p } = reader.tables
  const [row] = await reader.select({ id: p.id }).from(p).where(eq(p.state, 'old')).limit(1)
  return row?.id
}

/** Deletes some columns of an old period, and the period with its last column. */
export async function deleteOldColumns(tx: Tx, id: number, limit: number): Promise<void> {
  const { rollupPeriods: p, rollupColumns: c } = tx.tables
  const columns = await tx.select({ grain: c.grain, name: c.name }).from(c).where(eq(c.periodId, id)).limit(limit)
  for (const [grain, ofGrain] of Map.groupBy(columns, (column) => column.grain)) {
    const names = ofGrain.map(({ name }) => name)
    await tx.delete(c).where(and(eq(c.periodId, id), eq(c.grain, grain), inArray(c.name, names)))
  }
  if (columns.length < limit) await tx.delete(p).where(and(eq(p.id, id), eq(p.state, 'old')))
}

/** Coarse segments per query; one of a day has a few kilobytes. */
const SEGMENTS_PER_QUERY = 32

/**
 * The segments of periods, in their order, with some of their columns. Periods without rows in the grain have none. The
 * entries of a day are read alone: its columns may have megabytes.
 */
export async function* readSegments<P extends { id: number }>(
  reader: Reader,
  grain: number,
  periods: readonly P[],
  names: readonly ColumnName[],
): AsyncGenerator<{ period: P; segment: Segment }> {
  const perQuery = grain === ENTRIES_GRAIN ? 1 : SEGMENTS_PER_QUERY
  for (let at = 0; at < periods.length; at += perQuery) {
    const some = periods.slice(at, at + perQuery)
    const rows = await listSegments(reader, grain, some, names)
    const byPeriod = Map.groupBy(rows, ({ periodId }) => periodId)
    for (const period of some) {
      const columns = byPeriod.get(period.id)
      if (columns) yield { period, segment: segmentOf(columns, names) }
    }
  }
}

/** One segment; undefined if the period has no rows in the grain. */
export async function readSegment(
  reader: Reader,
  grain: number,
  period: { id: number },
  names: readonly ColumnName[],
): Promise<Segment | undefined> {
  const rows = await listSegments(reader, grain, [period], names)
  return rows.length > 0 ? segmentOf(rows, names) : undefined
}

/** A prepared query for each number of periods and columns: building one takes longer than reading a segment. */
function listSegments(reader: Reader, grain: number, periods: readonly { id: number }[], names: readonly string[]) {
  const ids = periods.map(({ id }, at) => [`period${at}`, id] as const)
  const columns = [...names, TOGETHER].map((name, at) => [`name${at}`, name] as const)
  const placeholders = (values: readonly (readonly [string, unknown])[]) => values.map(([key]) => sql.placeholder(key))
  return reader
    .prepared(`rollup.segments.${ids.length}.${columns.length}`, (prepare) => {
      const { rollupColumns: c } = prepare.tables
      return prepare
        .select({ periodId: c.periodId, name: c.name, data: c.data })
        .from(c)
        .where(
          and(
            inArray(c.periodId, placeholders(ids)),
            eq(c.grain, sql.placeholder('grain')),
            inArray(c.name, placeholders(columns)),
          ),
        )
    })
    .execute({ grain, ...Object.fromEntries(ids), ...Object.fromEntries(columns) })
}

/** The segments of periods that are taken in this order, where they have one. */
export class Segments {
  readonly #segments: AsyncGenerator<{ period: { id: number }; segment: Segment }>
  #next: { period: { id: number }; segment: Segment } | undefined
  #isStarted = false

  constructor(reader: Reader, grain: number, periods: readonly { id: number }[], names: readonly ColumnName[]) {
    this.#segments = readSegments(reader, grain, periods, names)
  }

  /** Undefined if the period has no rows. */
  async take({ id }: { id: number }): Promise<Segment | undefined> {
    if (!this.#isStarted) await this.#advance()
    this.#isStarted = true
    if (this.#next?.period.id !== id) return undefined
    const { segment } = this.#next
    await this.#advance()
    return segment
  }

  async #advance(): Promise<void> {
    this.#next = (await this.#segments.next()).value ?? undefined
  }
}

/** All stored columns of a period. */
export function listColumns(reader: Reader, periodId: number): Promise<StoredColumns[]> {
  const { rollupColumns: c } = reader.tables
  return reader.select({ grain: c.grain, name: c.name, data: c.data }).from(c).where(eq(c.periodId, periodId))
}
