/**
 * Adds up entries by bucket and group: whole periods from their sums, others from the columns of their entries, and what
 * has changed since from the table of entries. Everything is read from one state of the database, so the result is
 * consistent.
 */
import type { Viewer } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { isOverflow } from '../../../database/errors.ts'
import type { EntryFilter } from '../listing/filter.ts'
import type { Integers } from './column.ts'
import { type GroupedRows, Groups, type RowFigure, type Rows } from './groups.ts'
import { type Grouping, type Merge, mergeOf } from './merges.ts'
import { type Period, planReading, type Range, type ReadingPlan, rawLengthOf } from './plan.ts'
import {
  boundOf,
  type ColumnName,
  ENTRIES_GRAIN,
  type Figure,
  figuresOfEntries,
  figuresOfSums,
  findGrain,
  integersOf,
  MEASURES_OF,
  NO_FIGURE,
  onesOf,
  type Segment,
  STRADDLING_GRAIN,
  ZERO_FIGURE,
} from './segment.ts'
import { type Selection, type TestedColumns, testedColumns } from './selection.ts'
import { listZones, readState, Segments } from './store/periods.ts'
import { resolveSelection } from './store/selection.ts'
import { type EntryKey, type EntrySums, sumEntries } from './store/sums.ts'

export interface SumsTask {
  viewer: Viewer
  /** Its `starting_at` and `ending_at` narrow the bounds further where they are set. */
  filter: EntryFilter
  groupings: readonly Grouping[]
  figures: readonly Figure[]
  /** Ascending moments: bucket `i` is from `bounds[i]` to just before `bounds[i + 1]`. */
  bounds: readonly number[]
  /** Whether to sum only sessions that continued past the end of their bucket. */
  onlyStraddling: boolean
  /** The maximum number of groups, from the first bucket on; the rest is missing. */
  limit?: number | undefined
}

/** One row per bucket and group, in the order of the buckets. */
export interface SummedColumns {
  length: number
  buckets: Int32Array
  /** By grouping: ids of rows, keys of texts, or indices of `texts`; -1 is null. */
  keys: Int32Array[]
  /** By grouping: the values of its label. */
  texts: (readonly string[] | undefined)[]
  entries: Float64Array
  unpricedEntries: Float64Array
  /** Entries whose session continued past the end of the bucket. */
  straddling: Float64Array
  /** As asked. */
  figures: Integers[]
}

/** Before the asked figures. */
const COUNTS = ['entries', 'unpricedEntries'] as const

export async function sumColumns(reader: Reader, task: SumsTask): Promise<SummedColumns> {
  const { bounds, filter, groupings, limit } = task
  const within = {
    from: Math.max(bounds[0]!, filter.starting_at ?? Number.NEGATIVE_INFINITY),
    to: Math.min(bounds.at(-1)!, filter.ending_at ?? Number.POSITIVE_INFINITY),
  }
  const merges = await Promise.all(groupings.map((grouping) => mergeOf(reader, grouping)))
  const result = new Result(merges)
  if (within.from >= within.to) return result.columns(0)
  const scan = await scanOf(reader, task, within)
  const raw = await rawByBucket(reader, task, scan.plan.raw)
  const open = new Map<number, Groups>()
  const groupsOf = (bucket: number): Groups => {
    let groups = open.get(bucket)
    if (!groups) {
      groups = new Groups(groupings.length, 1 + scan.figures.length)
      open.set(bucket, groups)
    }
    return groups
  }
  const buckets = new Set(raw.keys())
  /** Ends all buckets before this one. */
  const finish = async (before: number) => {
    for (const bucket of [...buckets].filter((known) => known < before).sort((one, other) => one - other)) {
      const rows = raw.get(bucket)
      if (rows) groupsOf(bucket).add(rows)
      buckets.delete(bucket)
      const groups = open.get(bucket)
      open.delete(bucket)
      if (groups) await result.add(bucket, groups.rows())
      if (limit !== undefined && result.length > limit) return true
    }
    return false
  }
  for await (const { bucket, rows } of scan.read()) {
    if (!buckets.has(bucket) && (await finish(bucket))) return result.columns(limit)
    buckets.add(bucket)
    groupsOf(bucket).add(rows)
  }
  await finish(Number.POSITIVE_INFINITY)
  return result.columns(limit)
}

/** The sum of all rows of one bucket. */
export function totalOf({ length, straddling, entries, unpricedEntries, figures }: SummedColumns): SummedColumns {
  const counts = [straddling, entries, unpricedEntries].map((values): Integers => ({ values }))
  const groups = new Groups(0, counts.length + figures.length)
  groups.add({ length, selected: undefined, keys: [], figures: [...counts, ...figures].map(figureOfIntegers) })
  const result = new Result([])
  result.addRows(0, groups.rows())
  return result.columns(undefined)
}

/** A period, where to read it, and the buckets that it contains. */
interface Step {
  period: Period
  grain: number
}

interface Scan {
  plan: ReadingPlan
  /** With {@link COUNTS}. */
  figures: readonly Figure[]
  /** Rows whose figures are the number of straddling entries and `figures`, by ascending time. */
  read(): AsyncGenerator<{ bucket: number; rows: Rows }>
}

async function scanOf(reader: Reader, task: SumsTask, within: Range): Promise<Scan> {
  const { viewer, filter, bounds, groupings, onlyStraddling } = task
  const figures = [...COUNTS, ...task.figures]
  const tested = testedColumns(filter, viewer)
  if (!tested) return { plan: { periods: [], cut: [], raw: [within] }, figures, read: async function* () {} }
  const keys = groupings.map(keyOf)
  const needed = [...tested.keys, ...keys]
  const grains = {
    day: tested.measures.length === 0 ? findGrain('day', needed) : undefined,
    month: tested.measures.length === 0 ? findGrain('month', needed) : undefined,
  }
  const plan = await bestPlan(reader, bounds, within, grains.month !== undefined)
  const steps: Step[] = [
    ...plan.periods.map((period) => ({ period, grain: grains[period.level]?.number ?? ENTRIES_GRAIN })),
    ...plan.cut.map((period) => ({ period, grain: ENTRIES_GRAIN })),
  ].sort((one, other) => one.period.startsAt - other.period.startsAt)
  const selection = await resolveSelection(reader, viewer, filter)
  const reading = { bounds, within, selection, tested, keys, figures, onlyStraddling }
  return { plan, figures, read: () => readSteps(reader, steps, reading) }
}

/** The plan for the time zone whose roll-up leaves least to read from entries; while zones are changed there are two. */
async function bestPlan(reader: Reader, bounds: readonly number[], within: Range, withMonths: boolean) {
  const plans: ReadingPlan[] = []
  for (const { zone, ready } of await listZones(reader)) {
    if (ready) plans.push(planReading(bounds, within, await readState(reader, zone, within), { withMonths }))
  }
  plans.sort((one, other) => rawLengthOf(one) - rawLengthOf(other))
  return plans[0] ?? { periods: [], cut: [], raw: [within] }
}

interface Reading {
  bounds: readonly number[]
  within: Range
  selection: Selection
  tested: TestedColumns
  keys: readonly EntryKey[]
  figures: readonly Figure[]
  onlyStraddling: boolean
}

async function* readSteps(reader: Reader, steps: readonly Step[], reading: Reading) {
  const { keys, figures, selection, tested } = reading
  const ofSums = [...new Set<ColumnName>([...keys, ...tested.keys, ...figures])]
  const measures = figures.flatMap((figure) => MEASURES_OF[figure])
  const ofEntries = [
    ...new Set<ColumnName>([...keys, ...tested.keys, ...tested.measures, 'startedAt', 'duration', ...measures]),
  ]
  const segmentsOf = (grain: number, names: readonly ColumnName[], isRead: (step: Step) => boolean) => {
    const periods = steps.filter(isRead).map(({ period }) => period)
    return new Segments(reader, grain, periods, names)
  }
  const segments = new Map(
    [...new Set(steps.map(({ grain }) => grain))].map((grain) => [
      grain,
      segmentsOf(grain, grain === ENTRIES_GRAIN ? ofEntries : ofSums, (step) => step.grain === grain),
    ]),
  )
  const straddlers = segmentsOf(STRADDLING_GRAIN, ofEntries, (step) => step.grain !== ENTRIES_GRAIN)
  for (const { period, grain } of steps) {
    const segment = await segments.get(grain)!.take(period)
    if (grain === ENTRIES_GRAIN) {
      if (segment) yield* rowsOfEntries(segment, period, reading)
      continue
    }
    const bucket = bucketAt(reading.bounds, period.startsAt)
    if (segment && !reading.onlyStraddling) {
      const rows = {
        length: segment.length,
        selected: selection.rowsOf(segment),
        keys: keys.map((key) => segment.keys(key)),
        figures: [ZERO_FIGURE, ...figuresOfSums(segment, figures)],
      }
      yield { bucket, rows }
    }
    const straddling = await straddlers.take(period)
    if (straddling) yield { bucket, rows: rowsOfStraddling(straddling, bucket, reading) }
  }
}

/** The rows of entries, bucket by bucket. */
function* rowsOfEntries(segment: Segment, { startsAt, endsAt }: Period, reading: Reading) {
  const { bounds, within, selection, keys, figures, onlyStraddling } = reading
  const starts = segment.integers('startedAt').values
  const until = Math.min(endsAt, within.to)
  for (let bucket = Math.max(0, bucketAt(bounds, startsAt)); bucket + 1 < bounds.length; bucket += 1) {
    if (bounds[bucket]! >= until) return
    const from = firstAtOrAfter(starts, Math.max(bounds[bucket]!, within.from))
    const to = firstAtOrAfter(starts, Math.min(bounds[bucket + 1]!, until))
    if (from >= to) continue
    const isBehind = behind(segment, bounds[bucket + 1]!)
    let selected = selection.rowsOf(segment, from, to)
    if (onlyStraddling) selected = straddlingRows(segment, selected, isBehind)
    const rows: Rows = {
      length: segment.length,
      selected,
      keys: keys.map((key) => segment.keys(key)),
      figures: [countOf(segment, isBehind), ...figuresOfEntries(segment, figures)],
    }
    yield { bucket, rows }
  }
}

/** The sessions that continued past the end of both their period and their bucket, which the sums do not contain. */
function rowsOfStraddling(segment: Segment, bucket: number, reading: Reading): Rows {
  const { bounds, selection, keys, figures, onlyStraddling } = reading
  const isBehind = behind(segment, bounds[bucket + 1]!)
  return {
    length: segment.length,
    selected: straddlingRows(segment, selection.rowsOf(segment), isBehind),
    keys: keys.map((key) => segment.keys(key)),
    // The sums contain all other figures, if they are requested.
    figures: [
      onesOf(segment.length),
      ...(onlyStraddling ? figuresOfEntries(segment, figures) : figures.map(() => NO_FIGURE)),
    ],
  }
}

type IsBehind = (row: number) => boolean

function behind(segment: Segment, end: number): IsBehind {
  const starts = segment.integers('startedAt').values
  const durations = segment.integers('duration').values
  return (row) => starts[row]! + durations[row]! > end
}

function straddlingRows({ length }: Segment, rows: Int32Array | undefined, isBehind: IsBehind): Int32Array {
  return (rows ?? Int32Array.from({ length }, (_, row) => row)).filter(isBehind)
}

function countOf({ length }: Segment, isBehind: IsBehind): RowFigure {
  const values = new Float64Array(length)
  let count = 0
  for (let row = 0; row < length; row += 1) {
    if (isBehind(row)) {
      values[row] = 1
      count += 1
    }
  }
  return count === 0 ? ZERO_FIGURE : { integers: { values }, isNone: false, bound: count }
}

/** The bucket that contains a moment; -1 before the first one. */
function bucketAt(bounds: readonly number[], moment: number): number {
  let low = 0
  let high = bounds.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (bounds[middle]! > moment) high = middle
    else low = middle + 1
  }
  return low - 1
}

function firstAtOrAfter(values: Float64Array, moment: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (values[middle]! >= moment) high = middle
    else low = middle + 1
  }
  return low
}

function keyOf(grouping: Grouping): EntryKey {
  if ('key' in grouping) return grouping.key
  return 'client' in grouping ? 'projectId' : 'labelSetId'
}

/** The groups of what is read from the table of entries. */
async function rawByBucket(reader: Reader, task: SumsTask, ranges: readonly Range[]): Promise<Map<number, Rows>> {
  if (ranges.length === 0) return new Map()
  const query = { ...task, columns: task.groupings.map(keyOf), ranges }
  const sums = await sumEntries(reader, query).catch((error) => {
    if (!isOverflow(error)) throw error
    return sumEntries(reader, { ...query, inHalves: true })
  })
  return new Map([...Map.groupBy(sums, ({ bucket }) => bucket)].map(([bucket, rows]) => [bucket, rowsOf(rows, task)]))
}

function rowsOf(sums: readonly EntrySums[], { groupings, figures }: SumsTask): Rows {
  const figure = (of: (sum: EntrySums) => bigint | number | null) => figureOfIntegers(integersOf(sums.map(of)))
  return {
    length: sums.length,
    selected: undefined,
    keys: groupings.map((_, at) => Int32Array.from(sums, ({ keys }) => keys[at]!)),
    figures: [
      figure(({ straddling }) => straddling),
      figure(({ entries }) => entries),
      figure(({ unpricedEntries }) => unpricedEntries),
      ...figures.map((_, at) => figure((sum) => sum.figures[at]!)),
    ],
  }
}

function figureOfIntegers(integers: Integers): RowFigure {
  return { integers, isNone: false, bound: boundOf(integers) }
}

/** Collects the groups of buckets. */
class Result {
  length = 0
  readonly #parts: { bucket: number; rows: GroupedRows }[] = []

  constructor(readonly merges: readonly (Merge | undefined)[]) {}

  async add(bucket: number, rows: GroupedRows): Promise<void> {
    this.addRows(bucket, await this.#merged(rows))
  }

  addRows(bucket: number, rows: GroupedRows): void {
    if (rows.length === 0) return
    this.#parts.push({ bucket, rows })
    this.length += rows.length
  }

  /** Groups by what the keys are merged into. */
  async #merged(rows: GroupedRows): Promise<GroupedRows> {
    if (this.merges.every((merge) => merge === undefined) || rows.length === 0) return rows
    const groups = new Groups(rows.keys.length, rows.figures.length)
    const keys: Int32Array[] = []
    for (const [at, merge] of this.merges.entries()) {
      keys.push(merge ? await merge.of(rows.keys[at]!) : rows.keys[at]!)
    }
    groups.add({
      length: rows.length,
      selected: undefined,
      keys,
      figures: rows.figures.map(figureOfIntegers),
    })
    return groups.rows()
  }

  columns(limit: number | undefined): SummedColumns {
    const length = Math.min(this.length, limit ?? this.length)
    const buckets = new Int32Array(length)
    const keys = this.merges.map(() => new Int32Array(length))
    const [straddling, entries, unpriced, ...figures] = this.#joined(length)
    let at = 0
    for (const { bucket, rows } of this.#parts) {
      const count = Math.min(rows.length, length - at)
      buckets.fill(bucket, at, at + count)
      for (const [index, values] of keys.entries()) values.set(rows.keys[index]!.subarray(0, count), at)
      at += count
    }
    return {
      length,
      buckets,
      keys,
      texts: this.merges.map((merge) => merge?.texts),
      straddling: countsOf(straddling, length),
      entries: countsOf(entries, length),
      unpricedEntries: countsOf(unpriced, length),
      figures,
    }
  }

  #joined(length: number): Integers[] {
    const count = this.#parts[0]?.rows.figures.length ?? 0
    return Array.from({ length: count }, (_, index) => {
      const values = new Float64Array(length)
      const beyond = new Map<number, bigint>()
      let at = 0
      for (const { rows } of this.#parts) {
        const part = rows.figures[index]!
        const taken = Math.min(rows.length, length - at)
        values.set(part.values.subarray(0, taken), at)
        for (const [row, exact] of part.beyond ?? []) if (row < taken) beyond.set(at + row, exact)
        at += taken
      }
      return { values, beyond }
    })
  }
}

/** Counts are never null; a group without rows in a source has no value of it. */
function countsOf(integers: Integers | undefined, length: number): Float64Array {
  return integers ? integers.values.map((value) => (Number.isNaN(value) ? 0 : value)) : new Float64Array(length)
}
