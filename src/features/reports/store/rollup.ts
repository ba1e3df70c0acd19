/** The roll-up's time zones, periods, sums and marks. See rollup.ts for when they are valid. */
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
import type { Tables } from '../../../database/schema/tables.ts'
import type { RollupLevel } from '../../../database/schema/values.ts'
import { findFinerGrain, GRAINS, ROLLED_COLUMNS, type RolledColumn, STRADDLING_GRAIN } from '../rollup-grain.ts'
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

/** Drops a time zone: from now on no report uses its periods. */
export async function removeZone(tx: Tx, zone: string): Promise<void> {
  const { rollupZones, rollupPeriods } = tx.tables
  await tx.delete(rollupZones).where(eq(rollupZones.zone, zone))
  await tx.update(rollupPeriods).set({ state: 'old' }).where(eq(rollupPeriods.zone, zone))
}

function reachesInto({ rollupPeriods: p }: Tables, { from, to }: Range): SQL | undefined {
  return and(lt(p.startsAt, to), gt(p.endsAt, from))
}

/** The state that a report needs to plan its reading. */
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

/** Deletes marks: only those that this transaction sees, so that concurrent changes stay marked. */
export async function deleteMarks(tx: Tx, hours: number[]): Promise<void> {
  const { staleHours } = tx.tables
  await tx.delete(staleHours).where(inArray(staleHours.hour, hours))
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
      createdAt: now,
    })),
  )
}

/** Stale days, the latest first, since people look at those. */
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
    .values({ zone, level, startsAt: from, endsAt: to, state: 'building', createdAt: now })
    .returning({ id: rollupPeriods.id })
  return row!.id
}

/** Inserts rows in the format of {@link sumDay} and {@link sumMonth}. */
export async function insertSums(tx: Tx, rows: string): Promise<void> {
  await tx.insert(tx.tables.rollupSums).select(sql`VALUES ${sql.raw(rows)}`)
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

/** The selected columns of a row, in the order of the table, after the numbers of the period and the row. */
const SELECTED = [
  'grain',
  ...ROLLED_COLUMNS,
  'straddlesTo',
  'entries',
  'unpricedEntries',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'cost',
  'listValue',
  'reportedCost',
  'comparedEntries',
  'comparedReportedCost',
  'comparedListValue',
] as const satisfies (keyof RollupSums)[]
type Selected = (typeof SELECTED)[number]

const KEYS = [...ROLLED_COLUMNS, 'straddlesTo'] as const
const FIGURES = SELECTED.slice(1 + KEYS.length) as Exclude<Selected, 'grain' | (typeof KEYS)[number]>[]

const TEXTS: readonly Selected[] = ['status', 'source']

function nameOf({ rollupSums }: Tables, column: Selected): SQL {
  return sql.identifier(rollupSums[column].name) as unknown as SQL
}

function list(parts: SQLWrapper[]): SQL {
  return sql.join(parts, sql`, `)
}

/** Groups of these entries by all columns; PostgreSQL needs an explicit type for columns that are always NULL. */
function groupsOfEntries({ tables }: Reader, { from, to }: Range): SQL {
  const { entries: e } = tables
  const cost = costOf(tables)
  const isCompared = sql`${e.reportedCost} IS NOT NULL AND ${e.listValue} IS NOT NULL`
  const compared = (figure: Column) => sql`sum(CASE WHEN ${isCompared} THEN ${figure} END)`
  const selected: Record<Exclude<Selected, 'grain'>, SQLWrapper> = {
    ...(Object.fromEntries(ROLLED_COLUMNS.map((column) => [column, e[column]])) as object as Record<
      RolledColumn,
      Column
    >),
    straddlesTo: sql`CASE WHEN ${e.endedAt} > ${sql.raw(`${to}`)} THEN ${e.endedAt} END`,
    entries: sql`count(*)`,
    unpricedEntries: sql`count(*) - count(${cost})`,
    input: sql`sum(${e.input})`,
    output: sql`sum(${e.output})`,
    cacheRead: sql`sum(${e.cacheRead})`,
    cacheWrite: sql`sum(${e.cacheWrite})`,
    cacheWrite1h: sql`sum(${e.cacheWrite1h})`,
    cost: sql`sum(${cost})`,
    listValue: sql`sum(${e.listValue})`,
    reportedCost: sql`sum(${e.reportedCost})`,
    comparedEntries: sql`count(CASE WHEN ${isCompared} THEN 1 END)`,
    comparedReportedCost: compared(e.reportedCost),
    comparedListValue: compared(e.listValue),
  }
  const columns = [...KEYS, ...FIGURES].map((column) => sql`${selected[column]} AS ${nameOf(tables, column)}`)
  const isCounted = and(gte(e.startedAt, from), lt(e.startedAt, to), eq(e.superseded, false))
  return sql`SELECT ${list(columns)} FROM ${e} WHERE ${isCounted} GROUP BY ${list(KEYS.map((_, at) => sql.raw(`${at + 1}`)))}`
}

/** Coarser groups of rows, with the columns of `kept`, and NULL in the others. */
function groupsOf({ tables }: Reader, kept: readonly (typeof KEYS)[number][], from: SQL): SQL {
  const key = (column: (typeof KEYS)[number]) => {
    const name = nameOf(tables, column)
    if (kept.includes(column)) return name
    return sql`CAST(NULL AS ${sql.raw(TEXTS.includes(column) ? 'text' : 'bigint')}) AS ${name}`
  }
  const figures = FIGURES.map((column) => sql`sum(${nameOf(tables, column)}) AS ${nameOf(tables, column)}`)
  return sql`SELECT ${list([...KEYS.map(key), ...figures])} FROM ${from} GROUP BY ${list(kept.map((column) => nameOf(tables, column)))}`
}

/**
 * All rows of a day in one statement, so that its entries are read once: first groups by all columns, from which the
 * grains are summed, those with few rows from others.
 */
function rowsOfDay(reader: Reader, range: Range): SQL {
  const grains = [...GRAINS.keys()]
  const tableOf = (grain: number | undefined) => sql.raw(grain === undefined ? 'finest' : `grain${grain}`)
  const named = [
    sql`finest AS MATERIALIZED (${groupsOfEntries(reader, range)})`,
    // In reverse order, since in PostgreSQL a name must be defined before its use.
    ...grains
      .toReversed()
      .map(
        (grain) =>
          sql`${tableOf(grain)} AS MATERIALIZED (${groupsOf(reader, GRAINS[grain]!, tableOf(findFinerGrain(grain)))})`,
      ),
  ]
  const arms = [
    ...grains.map((grain) => sql`SELECT ${sql.raw(`${grain}`)} AS grain, ${tableOf(grain)}.* FROM ${tableOf(grain)}`),
    sql`SELECT ${sql.raw(`${STRADDLING_GRAIN}`)} AS grain, finest.* FROM finest WHERE ${nameOf(reader.tables, 'straddlesTo')} IS NOT NULL`,
  ]
  return sql`WITH ${list(named)} ${sql.join(arms, sql` UNION ALL `)}`
}

/** The rows of one grain of a month, from those of its days. */
function rowsOfMonth(reader: Reader, grain: number, days: number[], { to }: Range): SQL {
  const { rollupSums: s } = reader.tables
  const isStraddling = grain === STRADDLING_GRAIN
  const isOfDays = and(inArray(s.periodId, days), eq(s.grain, grain), isStraddling ? gt(s.straddlesTo, to) : undefined)
  const rows = groupsOf(reader, isStraddling ? KEYS : GRAINS[grain]!, sql`${s} WHERE ${isOfDays}`)
  return sql`SELECT ${sql.raw(`${grain}`)} AS grain, month.* FROM (${rows}) AS month`
}

/**
 * Rows in the format for inserting, several per text: mapping thousands of rows one by one would block the main thread
 * for a tenth of a second. They contain only numbers and our own constants.
 */
async function written(reader: Reader, periodId: number, rows: SQL, perText: number): Promise<string[]> {
  const cell = (column: Selected) => {
    const name = nameOf(reader.tables, column)
    const literal = TEXTS.includes(column) ? sql`'''' || ${name} || ''''` : sql`CAST(${name} AS text)`
    return sql`coalesce(${literal}, 'NULL')`
  }
  const [grain, ...others] = SELECTED.map(cell)
  const cells = [sql.raw(`'(${periodId}'`), grain!, sql`CAST(number AS text)`, ...others]
  const text = sql`${sql.join(cells, sql` || ',' || `)} || ')'`
  const numbered = sql`SELECT row_number() OVER () AS number, rows.* FROM (${rows}) AS rows`
  const texts = await reader
    .select({ text: sql<string>`text` })
    .from(
      sql`(SELECT string_agg(${text}, ',') AS text FROM (${numbered}) AS numbered GROUP BY number / ${sql.raw(`${perText}`)}) AS texts`,
    )
  return texts.map((row) => row.text)
}

/** All sums of a day, from its entries, `perText` rows at a time. */
export function sumDay(reader: Reader, id: number, day: Range, perText: number): Promise<string[]> {
  return written(reader, id, rowsOfDay(reader, day), perText)
}

/** The sums of a grain of a month, from those of its days. */
export function sumMonth(
  reader: Reader,
  id: number,
  grain: number,
  days: number[],
  month: Range,
  perText: number,
): Promise<string[]> {
  return written(reader, id, rowsOfMonth(reader, grain, days, month), perText)
}

export interface Mismatch {
  /** Rows that are missing. */
  lacking: RollupSums[]
  /** Rows that should not exist, or not as often. */
  wrong: RollupSums[]
}

/** For each row, the expected minus the actual number of occurrences. */
async function compare(
  reader: Reader,
  right: SQL,
  { id }: Period,
  grain: number | undefined,
  limit: number,
): Promise<Mismatch> {
  const { tables } = reader
  const { rollupSums: s } = tables
  const isOfPeriod = and(eq(s.periodId, id), grain === undefined ? undefined : eq(s.grain, grain))
  const kept = sql`SELECT -1 AS surplus, ${list(SELECTED.map((column) => s[column]))} FROM ${s} WHERE ${isOfPeriod}`
  const rows = await reader
    .select({
      surplus: sql`sum(surplus)`.mapWith(Number),
      ...(Object.fromEntries(
        SELECTED.map((column) => [column, sql`${nameOf(tables, column)}`.mapWith(s[column])]),
      ) as object as Record<Selected, SQL>),
    })
    .from(sql`(SELECT 1 AS surplus, r.* FROM (${right}) AS r UNION ALL ${kept}) AS compared`)
    .groupBy(...SELECTED.map((column) => nameOf(tables, column)))
    .having(sql`sum(surplus) <> 0`)
    .limit(limit)
  const withoutSurplus = ({ surplus: _, ...sums }: (typeof rows)[number]) => sums as RollupSums
  return {
    lacking: rows.filter(({ surplus }) => surplus > 0).map(withoutSurplus),
    wrong: rows.filter(({ surplus }) => surplus < 0).map(withoutSurplus),
  }
}

/** Compares the stored sums of a day with those of its entries. */
export function compareDay(reader: Reader, day: Period, limit: number): Promise<Mismatch> {
  return compare(reader, rowsOfDay(reader, { from: day.startsAt, to: day.endsAt }), day, undefined, limit)
}

/** Compares the stored sums of a grain of a month with those of its days. */
export function compareMonth(
  reader: Reader,
  month: Period,
  grain: number,
  days: number[],
  limit: number,
): Promise<Mismatch> {
  const range = { from: month.startsAt, to: month.endsAt }
  return compare(reader, rowsOfMonth(reader, grain, days, range), month, grain, limit)
}
