/** Sums of entries by bucket and group from the table of entries. */

import { and, type Column, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { amountOf, conditionOf, type EntryFilter } from '../../selection/contract.ts'
import type { Range } from '../plan.ts'
import { type Figure, PLACED_BY_KEYS, SOURCE_KEYS, STATUS_KEYS } from '../segment.ts'

/** The columns that entries are grouped by. */
export type EntryKey =
  | 'projectId'
  | 'ticketId'
  | 'managerId'
  | 'agentId'
  | 'harnessId'
  | 'providerId'
  | 'modelId'
  | 'status'
  | 'source'
  | 'labelSetId'
  | 'placedBy'
  | 'isPossibleDuplicate'
  | 'fundingId'

export interface EntrySums {
  bucket: number
  /** In the order of the requested columns; -1 is null. */
  keys: number[]
  entries: number
  unpricedEntries: number
  straddling: number
  /** In the order of the requested figures. */
  figures: (bigint | null)[]
}

export interface EntrySumsQuery {
  viewer: Viewer
  /** All filters apply, except the period. */
  filter: EntryFilter
  columns: readonly EntryKey[]
  figures: readonly Figure[]
  /** Of the figure `cost` and of `unpricedEntries`; `cost` where absent. */
  basis?: CostBasis | undefined
  /** Whether to sum only sessions that continued past the end of their bucket. */
  onlyStraddling: boolean
  bounds: readonly number[]
  /** Ascending and disjoint. */
  ranges: readonly Range[]
  /** Whether each sum is calculated in two halves, for sums beyond 64 bits. SQLite fails if a sum does not fit. */
  inHalves?: boolean
}

/** The divisor for sums in halves: 9 billion entries with the largest values fit then. */
const HALF = 1_000_000_000

/** Consecutive buckets of equal length, which a division distinguishes. */
interface Stretch {
  startsAt: number
  endsAt: number
  lengthMs: number
  bucket: number
}

export function stretchesOf(bounds: readonly number[]): Stretch[] {
  const stretches: Stretch[] = []
  for (let bucket = 0; bucket + 1 < bounds.length; bucket += 1) {
    const startsAt = bounds[bucket]!
    const endsAt = bounds[bucket + 1]!
    const last = stretches.at(-1)
    if (last?.lengthMs === endsAt - startsAt) last.endsAt = endsAt
    else stretches.push({ startsAt, endsAt, lengthMs: endsAt - startsAt, bucket })
  }
  return stretches
}

/** Trusted numbers are literals in the text: ten thousand bounds would be too many parameters. */
export function literal(value: number): SQL {
  return sql.raw(value.toString())
}

/** The result of `leaf` for the stretch that contains `moment`, found by binary search, since there may be many. */
function inStretch(moment: Column, stretches: Stretch[], leaf: (stretch: Stretch) => SQL): SQL {
  if (stretches.length === 1) return leaf(stretches[0]!)
  const middle = stretches.length >> 1
  const [before, after] = [stretches.slice(0, middle), stretches.slice(middle)]
  return sql`CASE WHEN ${moment} < ${literal(after[0]!.startsAt)} THEN ${inStretch(moment, before, leaf)} ELSE ${inStretch(moment, after, leaf)} END`
}

function isSingle({ startsAt, endsAt, lengthMs }: Stretch): boolean {
  return endsAt - startsAt === lengthMs
}

export function bucketOf(moment: Column, stretches: Stretch[]): SQL {
  return inStretch(moment, stretches, (stretch) =>
    isSingle(stretch)
      ? literal(stretch.bucket)
      : sql`${literal(stretch.bucket)} + (${moment} - ${literal(stretch.startsAt)}) / ${literal(stretch.lengthMs)}`,
  )
}

/** Whether `end` is after the bucket of `moment`. */
function endsAfterBucket(end: Column, moment: Column, stretches: Stretch[]): SQL {
  return inStretch(moment, stretches, (stretch) =>
    isSingle(stretch)
      ? sql`${end} > ${literal(stretch.endsAt)}`
      : sql`(${end} - ${literal(stretch.startsAt)} - 1) / ${literal(stretch.lengthMs)} > (${moment} - ${literal(stretch.startsAt)}) / ${literal(stretch.lengthMs)}`,
  )
}

export function isWithin(moment: Column, ranges: readonly Range[]): SQL {
  const one = ({ from, to }: Range) => sql`(${moment} >= ${literal(from)} AND ${moment} < ${literal(to)})`
  return sql`(${sql.join(ranges.map(one), sql` OR `)})`
}

/** A sum as one column, or as two. */
function sumColumns(figure: SQL | Column, inHalves: boolean): SQL[] {
  if (!inHalves) return [sql`sum(${figure})`]
  return [sql`sum(${figure} / ${literal(HALF)})`, sql`sum(${figure} % ${literal(HALF)})`]
}

const countOfNulls = (amount: SQL | Column) => sql`CASE WHEN ${amount} IS NULL THEN 1 ELSE 0 END`
const countOfKnown = (amount: SQL | Column) => sql`CASE WHEN ${amount} IS NULL THEN 0 ELSE 1 END`

function figuresOf({ tables }: Reader, basis: CostBasis): Record<Figure, Column | SQL> {
  const { entries: e } = tables
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, listValue, reportedCost } = e
  const cost = amountOf(tables, basis)
  const [marginal, allocated] = [amountOf(tables, 'marginal'), amountOf(tables, 'allocated')]
  const compared = (figure: SQL | Column) =>
    sql`CASE WHEN ${reportedCost} IS NOT NULL AND ${listValue} IS NOT NULL THEN ${figure} END`
  return {
    ...{ input, output, cacheRead, cacheWrite, cacheWrite1h, listValue, reportedCost, cost, marginal, allocated },
    entries: literal(1),
    unpricedEntries: countOfNulls(cost),
    unlistedEntries: countOfNulls(listValue),
    marginalEntries: countOfKnown(marginal),
    allocatedEntries: countOfKnown(allocated),
    unmarginalEntries: countOfNulls(marginal),
    unallocatedEntries: countOfNulls(allocated),
    comparedEntries: compared(literal(1)),
    comparedReportedCost: compared(reportedCost),
    comparedListValue: compared(listValue),
    duration: sql`(${e.endedAt} - ${e.startedAt})`,
    activeMs: e.activeMs,
    activeEntries: countOfKnown(e.activeMs),
  }
}

/** The groups, in the order of the buckets. */
export async function sumEntries(reader: Reader, query: EntrySumsQuery): Promise<EntrySums[]> {
  const { viewer, filter, columns, figures, basis = 'cost', bounds, ranges, onlyStraddling, inHalves = false } = query
  const { entries: e } = reader.tables
  const stretches = stretchesOf(bounds)
  const expressions = figuresOf(reader, basis)
  const isStraddling = endsAfterBucket(e.endedAt, e.startedAt, stretches)
  const parts = figures.flatMap((figure) => sumColumns(expressions[figure], inHalves))
  const rows = (await reader
    .select({
      bucket: sql`${bucketOf(e.startedAt, stretches)}`.mapWith(Number),
      ...Object.fromEntries(columns.map((column, at) => [`key${at}`, keyColumn(e, column)])),
      entries: sql`count(*)`.mapWith(Number),
      unpriced: sql`count(*) - count(${expressions.cost})`.mapWith(Number),
      straddling: sql`sum(CASE WHEN ${isStraddling} THEN 1 ELSE 0 END)`.mapWith(Number),
      ...Object.fromEntries(parts.map((part, at) => [`figure${at}`, part.mapWith(BigInt)])),
    })
    .from(e)
    .where(
      and(
        isWithin(e.startedAt, ranges),
        onlyStraddling ? isStraddling : undefined,
        conditionOf(reader, { ...filter, starting_at: undefined, ending_at: undefined }),
        await visibleEntries(reader, viewer),
      ),
    )
    .groupBy(...[...columns.keys(), columns.length].map((at) => literal(at + 1)))
    .orderBy(literal(1))) as Record<string, unknown>[]
  return rows.map((row) => ({
    bucket: row.bucket as number,
    keys: columns.map((column, at) => keyOf(column, row[`key${at}`])),
    entries: row.entries as number,
    unpricedEntries: row.unpriced as number,
    straddling: row.straddling as number,
    figures: figures.map((_, at) => figureAt(row, at, inHalves)),
  }))
}

export function keyColumn(entries: Reader['tables']['entries'], key: EntryKey): Column | SQL {
  if (key !== 'isPossibleDuplicate') return entries[key]
  return sql`CASE WHEN ${entries.possibleDuplicateId} IS NULL THEN 0 ELSE 1 END`.mapWith(Number)
}

const TEXT_KEYS: Partial<Record<EntryKey, Record<string, number>>> = {
  status: STATUS_KEYS,
  source: SOURCE_KEYS,
  placedBy: PLACED_BY_KEYS,
}

export function keyOf(column: EntryKey, value: unknown): number {
  if (value === null) return -1
  return TEXT_KEYS[column]?.[value as string] ?? (value as number)
}

function figureAt(row: Record<string, unknown>, at: number, inHalves: boolean): bigint | null {
  if (!inHalves) return row[`figure${at}`] as bigint | null
  const upper = row[`figure${2 * at}`] as bigint | null
  return upper === null ? null : upper * BigInt(HALF) + (row[`figure${2 * at + 1}`] as bigint)
}
