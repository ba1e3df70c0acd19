/** The roll-up's zones, periods, sums and marks. What may be trusted of them, and when, stands in rollup.ts. */
import { and, asc, eq, gt, gte, inArray, lt, lte, max, ne, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { RollupLevel, Tables } from '../../../database/tables.ts'
import { hoursOf, type Period, type Range, type RollupState } from '../rollup-plan.ts'
import { costOf } from './expressions.ts'

export type RollupSums = Omit<Tables['rollupSums']['$inferSelect'], 'periodId' | 'number'>

export async function listZones(reader: Reader): Promise<{ zone: string; ready: boolean }[]> {
  const { rollupZones } = reader.tables
  return reader.select().from(rollupZones).orderBy(asc(rollupZones.zone))
}

export async function insertZone(tx: Tx, zone: string): Promise<void> {
  await tx.insert(tx.tables.rollupZones).values({ zone, ready: false }).onConflictDoNothing()
}

export async function setZoneReady(tx: Tx, zone: string): Promise<void> {
  const { rollupZones } = tx.tables
  await tx.update(rollupZones).set({ ready: true }).where(eq(rollupZones.zone, zone))
}

/** Gives a zone up: from now on no report trusts its periods. */
export async function removeZone(tx: Tx, zone: string): Promise<void> {
  const { rollupZones, rollupPeriods } = tx.tables
  await tx.delete(rollupZones).where(eq(rollupZones.zone, zone))
  await tx.update(rollupPeriods).set({ state: 'old' }).where(eq(rollupPeriods.zone, zone))
}

function reachesInto({ rollupPeriods: p }: Tables, { from, to }: Range): SQL | undefined {
  return and(lt(p.startsAt, to), gt(p.endsAt, from))
}

/** What a report needs to plan where it reads. */
export async function readState(reader: Reader, zone: string, range: Range): Promise<RollupState> {
  const { rollupPeriods: p } = reader.tables
  const rows = await reader
    .select({ id: p.id, level: p.level, startsAt: p.startsAt, endsAt: p.endsAt, state: p.state })
    .from(p)
    .where(and(inArray(p.state, ['clean', 'stale']), eq(p.zone, zone), reachesInto(reader.tables, range)))
    .orderBy(asc(p.startsAt))
  return { zone, periods: rows as Period[], staleHours: await listStaleHours(reader, range) }
}

export async function listStaleHours(reader: Reader, range?: Range): Promise<number[]> {
  const { staleHours: h } = reader.tables
  const within = range && hoursOf(range)
  const rows = await reader
    .selectDistinct({ hour: h.hour })
    .from(h)
    .where(within && and(gte(h.hour, within.first), lte(h.hour, within.last)))
    .orderBy(asc(h.hour))
  return rows.map(({ hour }) => hour)
}

/** Whether anything is marked, without counting what. */
export async function isAnythingMarked(reader: Reader): Promise<boolean> {
  const { staleHours } = reader.tables
  return (await reader.select().from(staleHours).limit(1)).length > 0
}

/** The hours of UTC in which there are entries. */
export async function listHoursWithEntries(reader: Reader): Promise<number[]> {
  const { entries } = reader.tables
  const hour = sql<number>`${entries.startedAt} / 3600000`.mapWith(Number)
  const rows = await reader.selectDistinct({ hour }).from(entries)
  return rows.map((row) => row.hour).sort((a, b) => a - b)
}

/** Takes marks away: those that this transaction sees and no other, so that what comes meanwhile stays marked. */
export async function deleteMarks(tx: Tx, hours: number[]): Promise<void> {
  const { staleHours } = tx.tables
  await tx.delete(staleHours).where(inArray(staleHours.hour, hours))
}

/** Periods of which a change is known, in any zone. What is being built of them is not finished any more. */
export async function markPeriods(tx: Tx, ranges: Range[]): Promise<void> {
  const { rollupPeriods: p } = tx.tables
  const touched = or(...ranges.map((range) => reachesInto(tx.tables, range)))
  const isUsed = inArray(p.state, ['clean', 'building'])
  await tx
    .update(p)
    .set({ state: sql`CASE WHEN ${p.level} = 'day' AND ${p.state} = 'clean' THEN 'stale' ELSE 'old' END` as never })
    .where(and(isUsed, touched))
}

/** Adds the days of a zone that have no row yet, as ones to be made. */
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
      createdAt: now,
    })),
  )
}

/** Days to be made, the latest first, as people ask for those. */
export async function listStaleDays(reader: Reader): Promise<(Range & { zone: string })[]> {
  const { rollupPeriods: p } = reader.tables
  const rows = await reader
    .select({ zone: p.zone, from: p.startsAt, to: p.endsAt })
    .from(p)
    .where(and(eq(p.state, 'stale'), eq(p.level, 'day')))
  return rows.sort((a, b) => b.from - a.from)
}

export async function listCleanPeriods(reader: Reader, zone: string): Promise<Period[]> {
  const { rollupPeriods: p } = reader.tables
  const rows = await reader
    .select({ id: p.id, level: p.level, startsAt: p.startsAt, endsAt: p.endsAt, state: p.state })
    .from(p)
    .where(and(eq(p.state, 'clean'), eq(p.zone, zone)))
    .orderBy(asc(p.startsAt))
  return rows as Period[]
}

/** Whether the period's sums hold: it is in use, and no hour of it is marked. */
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

/** Begins a period anew. From its commit on, every change of it that the job learns of ends the building. */
export async function insertBuilding(tx: Tx, { zone, level, from, to }: NewPeriod, now: number): Promise<number> {
  const { rollupPeriods } = tx.tables
  const [row] = await tx
    .insert(rollupPeriods)
    .values({ zone, level, startsAt: from, endsAt: to, state: 'building', createdAt: now })
    .returning({ id: rollupPeriods.id })
  return row!.id
}

export async function insertSums(tx: Tx, periodId: number, first: number, rows: RollupSums[]): Promise<void> {
  const insert = tx.prepared('rollup.insert-sums', (prepare) => {
    const { rollupSums } = prepare.tables
    const columns = ['periodId', 'number', ...Object.keys(rows[0]!)]
    return prepare
      .insert(rollupSums)
      .values(Object.fromEntries(columns.map((column) => [column, sql.placeholder(column)])) as never)
      .returning({ number: rollupSums.number })
  })
  for (const [at, row] of rows.entries()) await insert.execute({ ...row, periodId, number: first + at })
}

/** Puts a built period in the place of all others of its day or month; answers whether its building had not been ended. */
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

/** Gives up what has been in the building since before a moment: the process that built it has ended. */
export async function endBuildings(tx: Tx, before: number): Promise<void> {
  const { rollupPeriods: p } = tx.tables
  await tx
    .update(p)
    .set({ state: 'old' })
    .where(and(eq(p.state, 'building'), lt(p.createdAt, before)))
}

export async function findOldPeriod(reader: Reader): Promise<number | undefined> {
  const { rollupPeriods: p } = reader.tables
  const [row] = await reader.select({ id: p.id }).from(p).where(eq(p.state, 'old')).limit(1)
  return row?.id
}

/** Deletes the last so many sums of an old period, and the period with its last sum. */
export async function deleteOldSums(tx: Tx, id: number, limit: number): Promise<void> {
  const { rollupPeriods: p, rollupSums: s } = tx.tables
  const [row] = await tx
    .select({ last: sql<number | null>`${max(s.number)}`.mapWith(Number) })
    .from(s)
    .where(eq(s.periodId, id))
  const from = (row?.last ?? -1) - limit + 1
  await tx.delete(s).where(and(eq(s.periodId, id), gte(s.number, from)))
  if (from <= 0) await tx.delete(p).where(and(eq(p.id, id), eq(p.state, 'old')))
}

/** The sums of a period from its entries. */
export async function sumEntries(reader: Reader, { from, to }: Range): Promise<RollupSums[]> {
  const { entries: e } = reader.tables
  const cost = costOf(reader.tables)
  const straddlesTo = sql<number | null>`CASE WHEN ${e.endedAt} > ${sql.raw(`${to}`)} THEN ${e.endedAt} END`
  const keys = {
    managerId: e.managerId,
    harnessId: e.harnessId,
    agentId: e.agentId,
    modelId: e.modelId,
    providerId: e.providerId,
    projectId: e.projectId,
    status: e.status,
    source: e.source,
  }
  return reader
    .select({
      ...keys,
      straddlesTo: straddlesTo.mapWith(Number),
      entries: sql<number>`count(*)`.mapWith(Number),
      unpricedEntries: sql<number>`count(*) - count(${cost})`.mapWith(Number),
      input: sum(e.input),
      output: sum(e.output),
      cacheRead: sum(e.cacheRead),
      cacheWrite: sum(e.cacheWrite),
      cacheWrite1h: sum(e.cacheWrite1h),
      cost: sum(cost) as SQL<bigint | null>,
      listValue: sum(e.listValue) as SQL<bigint | null>,
      reportedCost: sum(e.reportedCost) as SQL<bigint | null>,
    })
    .from(e)
    .where(and(gte(e.startedAt, from), lt(e.startedAt, to), eq(e.superseded, false)))
    .groupBy(...Object.values(keys), straddlesTo)
}

/** The sums of a month from those of its days. */
export async function sumPeriods(reader: Reader, ids: number[], { to }: Range): Promise<RollupSums[]> {
  const { rollupSums: s } = reader.tables
  const straddlesTo = sql<number | null>`CASE WHEN ${s.straddlesTo} > ${sql.raw(`${to}`)} THEN ${s.straddlesTo} END`
  const keys = {
    managerId: s.managerId,
    harnessId: s.harnessId,
    agentId: s.agentId,
    modelId: s.modelId,
    providerId: s.providerId,
    projectId: s.projectId,
    status: s.status,
    source: s.source,
  }
  return reader
    .select({
      ...keys,
      straddlesTo: straddlesTo.mapWith(Number),
      entries: sql<number>`sum(${s.entries})`.mapWith(Number),
      unpricedEntries: sql<number>`sum(${s.unpricedEntries})`.mapWith(Number),
      input: sum(s.input),
      output: sum(s.output),
      cacheRead: sum(s.cacheRead),
      cacheWrite: sum(s.cacheWrite),
      cacheWrite1h: sum(s.cacheWrite1h),
      cost: sum(s.cost) as SQL<bigint | null>,
      listValue: sum(s.listValue) as SQL<bigint | null>,
      reportedCost: sum(s.reportedCost) as SQL<bigint | null>,
    })
    .from(s)
    .where(inArray(s.periodId, ids))
    .groupBy(...Object.values(keys), straddlesTo)
}

export async function listSums(reader: Reader, periodId: number): Promise<RollupSums[]> {
  const { rollupSums: s } = reader.tables
  const rows = await reader.select().from(s).where(eq(s.periodId, periodId))
  return rows.map(({ periodId: _, number: __, ...sums }) => sums)
}

function sum(figure: SQLWrapper): SQL<bigint> {
  return sql<bigint>`sum(${figure})`.mapWith(BigInt)
}
