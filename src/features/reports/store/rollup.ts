/** The roll-up's zones, periods, sums and marks. What may be trusted of them, and when, stands in rollup.ts. */
import {
  and,
  asc,
  type Column,
  eq,
  gt,
  gte,
  inArray,
  lt,
  lte,
  min,
  ne,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { RollupLevel, Tables } from '../../../database/tables.ts'
import { GRAINS, ROLLED_COLUMNS, type RolledColumn, STRADDLING_GRAIN } from '../rollup-grain.ts'
import { hoursOf, type Period, type Range, type RollupState } from '../rollup-plan.ts'
import { costOf } from './expressions.ts'

export type RollupSums = Omit<Tables['rollupSums']['$inferSelect'], 'periodId' | 'number'>

/** Of a grain whose rows are groups of entries; the others are its straddling sessions. */
type Grouped = Tables['entries'] | Tables['rollupSums']

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

/** When the first session began at or after a moment; undefined where none did. */
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

/** Takes marks away: those that this transaction sees and no other, so that what comes meanwhile stays marked. */
export async function deleteMarks(tx: Tx, hours: number[]): Promise<void> {
  const { staleHours } = tx.tables
  await tx.delete(staleHours).where(inArray(staleHours.hour, hours))
}

/** Makes the periods stale of which changes are known, in any zone. What is being built of them is not finished any more. */
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
  if (rows.length === 0) return
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

/** Gives up a period that is being built. */
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

/** Deletes sums of an old period, and the period with its last sum. */
export async function deleteOldSums(tx: Tx, id: number, limit: number): Promise<void> {
  const { rollupPeriods: p, rollupSums: s } = tx.tables
  const [first] = await tx
    .select({ grain: s.grain, number: s.number })
    .from(s)
    .where(eq(s.periodId, id))
    .orderBy(asc(s.grain), asc(s.number))
    .limit(1)
  if (!first) {
    await tx.delete(p).where(and(eq(p.id, id), eq(p.state, 'old')))
    return
  }
  await tx.delete(s).where(and(eq(s.periodId, id), eq(s.grain, first.grain), lt(s.number, first.number + limit)))
}

/** The sums of a grain from entries. */
export async function sumEntries(reader: Reader, grain: number, { from, to }: Range): Promise<RollupSums[]> {
  const { entries: e } = reader.tables
  const cost = costOf(reader.tables)
  const isCounted = and(gte(e.startedAt, from), lt(e.startedAt, to), eq(e.superseded, false))
  if (grain === STRADDLING_GRAIN) {
    return reader
      .select({ ...straddling(e, e.endedAt), entries: count(sql`count(*)`) })
      .from(e)
      .where(and(isCounted, gt(e.endedAt, to)))
      .groupBy(...columnsOf(e, ROLLED_COLUMNS), e.endedAt)
  }
  return reader
    .select({
      ...groups(e, grain),
      entries: count(sql`count(*)`),
      unpricedEntries: count(sql`count(*) - count(${cost})`),
      ...tokenSums(e),
      cost: unknownSum(cost),
      listValue: unknownSum(e.listValue),
      reportedCost: unknownSum(e.reportedCost),
    })
    .from(e)
    .where(isCounted)
    .groupBy(...columnsOf(e, GRAINS[grain]!))
}

/** The sums of a month's grain from those of its days. */
export async function sumPeriods(reader: Reader, grain: number, ids: number[], { to }: Range): Promise<RollupSums[]> {
  const { rollupSums: s } = reader.tables
  const isOfDays = and(inArray(s.periodId, ids), eq(s.grain, grain))
  if (grain === STRADDLING_GRAIN) {
    return reader
      .select({ ...straddling(s, s.straddlesTo), entries: count(sql`sum(${s.entries})`) })
      .from(s)
      .where(and(isOfDays, gt(s.straddlesTo, to)))
      .groupBy(...columnsOf(s, ROLLED_COLUMNS), s.straddlesTo)
  }
  return reader
    .select({
      ...groups(s, grain),
      entries: count(sql`sum(${s.entries})`),
      unpricedEntries: count(sql`sum(${s.unpricedEntries})`),
      ...tokenSums(s),
      cost: unknownSum(s.cost),
      listValue: unknownSum(s.listValue),
      reportedCost: unknownSum(s.reportedCost),
    })
    .from(s)
    .where(isOfDays)
    .groupBy(...columnsOf(s, GRAINS[grain]!))
}

function columnsOf(table: Grouped, columns: readonly RolledColumn[]) {
  return columns.map((column) => table[column])
}

/** The columns of a grain, and NULL for those that it leaves out. */
function groups(table: Grouped, grain: number) {
  const kept = ROLLED_COLUMNS.map((column) => [column, GRAINS[grain]!.includes(column) ? table[column] : sql`NULL`])
  return {
    grain: sql<number>`${sql.raw(`${grain}`)}`.mapWith(Number),
    ...(Object.fromEntries(kept) as Pick<Tables['rollupSums'], RolledColumn>),
    straddlesTo: sql<null>`NULL`,
  }
}

function straddling(table: Grouped, end: Column) {
  const none = sql<bigint>`0`.mapWith(BigInt)
  const unknown = sql<bigint | null>`NULL`
  return {
    grain: sql<number>`${sql.raw(`${STRADDLING_GRAIN}`)}`.mapWith(Number),
    ...(Object.fromEntries(ROLLED_COLUMNS.map((column) => [column, table[column]])) as Pick<
      Tables['rollupSums'],
      RolledColumn
    >),
    straddlesTo: sql<number | null>`${end}`.mapWith(Number),
    unpricedEntries: sql<number>`0`.mapWith(Number),
    input: none,
    output: none,
    cacheRead: none,
    cacheWrite: none,
    cacheWrite1h: none,
    cost: unknown,
    listValue: unknown,
    reportedCost: unknown,
  }
}

function tokenSums({ input, output, cacheRead, cacheWrite, cacheWrite1h }: Grouped) {
  return {
    input: sum(input),
    output: sum(output),
    cacheRead: sum(cacheRead),
    cacheWrite: sum(cacheWrite),
    cacheWrite1h: sum(cacheWrite1h),
  }
}

function count(expression: SQL) {
  return sql<number>`${expression}`.mapWith(Number)
}

function sum(figure: SQLWrapper) {
  return sql<bigint>`sum(${figure})`.mapWith(BigInt)
}

/** Null where no entry has the figure. */
function unknownSum(figure: SQLWrapper) {
  return sql<bigint | null>`sum(${figure})`.mapWith(BigInt)
}

/** What a period keeps of a grain. */
export async function listSums(reader: Reader, periodId: number, grain: number): Promise<RollupSums[]> {
  const { rollupSums: s } = reader.tables
  const rows = await reader
    .select()
    .from(s)
    .where(and(eq(s.periodId, periodId), eq(s.grain, grain)))
  return rows.map(({ periodId: _, number: __, ...sums }) => sums)
}
