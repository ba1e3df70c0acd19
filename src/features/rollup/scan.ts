/** Reads the rows that a report adds up, from the segments of days and months. */

import { type Viewer, visibleKeys } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import { firstIndex } from '../../lib/binary-search.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import type { EntryFilter } from '../selection/contract.ts'
import { EmptyPeriods } from './empty-periods.ts'
import { figuresOfEntries, figuresOfSums, NO_FIGURE, onesOf, ZERO_FIGURE } from './figures.ts'
import type { RowFigure, Rows } from './groups.ts'
import { endsAfter, type RowTest } from './measure-tests.ts'
import { type Grouping, keyOf } from './merges.ts'
import { type Period, planReading, type Range, type ReadingPlan, type RollupState, rawLengthOf } from './plan.ts'
import {
  bestGrain,
  type ColumnName,
  ENTRIES_GRAIN,
  FIGURES_OF_BASIS,
  type Figure,
  findGrain,
  formatWith,
  MEASURES_OF,
  type Segment,
  STRADDLING_GRAIN,
  summedOf,
} from './segment.ts'
import { type Selection, type TestedColumns, testedColumns, testedRows } from './selection.ts'
import { isOfFewEntries } from './store/few-entries.ts'
import { listZones, readState, Segments } from './store/periods.ts'
import { resolveSelection } from './store/selection.ts'
import type { EntryKey } from './store/sums.ts'

export interface SumsTask {
  viewer: Viewer
  /** Its `starting_at` and `ending_at` narrow the bounds further where they are set. */
  filter: EntryFilter
  groupings: readonly Grouping[]
  figures: readonly Figure[]
  /** Which amounts the figure `cost` adds up, and `unpricedEntries` misses; `cost` where absent. */
  basis?: CostBasis | undefined
  /** Ascending moments: bucket `i` is from `bounds[i]` to just before `bounds[i + 1]`. */
  bounds: readonly number[]
  /** Whether to sum only sessions that continued past the end of their bucket. */
  onlyStraddling: boolean
  /** The maximum number of groups, from the first bucket on; the rest is missing. */
  limit?: number | undefined
}

/** The figures of a task on its basis, after the number of entries and of those that it misses. */
function figuresRead({ figures, basis = 'cost' }: SumsTask): Figure[] {
  const [cost, unknown] = FIGURES_OF_BASIS[basis]
  return ['entries', unknown, ...figures.map((figure) => (figure === 'cost' ? cost : figure))]
}

/** A period, where to read it, and the buckets that it contains. */
interface Step {
  period: Period
  grain: number
}

export interface Scan {
  plan: ReadingPlan
  /** See {@link figuresRead}. */
  figures: readonly Figure[]
  /** Rows whose figures are the number of straddling entries and `figures`, by ascending time. */
  read(): AsyncGenerator<{ bucket: number; rows: Rows }>
}

export async function scanOf(reader: Reader, task: SumsTask, within: Range): Promise<Scan> {
  const { viewer, filter, bounds, groupings, onlyStraddling } = task
  const figures = figuresRead(task)
  const seen = await visibleKeys(reader, viewer)
  const tested = testedColumns(filter, seen)
  if (!tested) return fromTable(within, figures)
  const keys = groupings.map(keyOf)
  const needed = [...tested.keys, ...keys]
  const grains = {
    day: tested.measures.length === 0 ? findGrain('day', needed) : undefined,
    month: tested.measures.length === 0 ? findGrain('month', needed) : undefined,
  }
  const format = formatWith([...needed, ...tested.measures, ...tested.figures, ...figures.flatMap(summedOf)])
  const planned = { withMonths: grains.month !== undefined, format }
  const { plan, state } = await bestPlan(reader, bounds, within, planned)
  if (await isFasterFromTable(reader, filter, within, plan)) return fromTable(within, figures)
  const all: Step[] = [
    ...plan.periods.map((period) => ({ period, grain: grains[period.level]?.number ?? ENTRIES_GRAIN })),
    ...plan.cut.map((period) => ({ period, grain: ENTRIES_GRAIN })),
  ].sort((one, other) => one.period.startsAt - other.period.startsAt)
  const selection = await resolveSelection(reader, seen, filter)
  const steps = await withoutEmptyPeriods(reader, all, { tested, selection, within, state })
  const reading = { bounds, within, selection, tested, keys, figures, onlyStraddling }
  return { plan, figures, read: () => readSteps(reader, steps, reading) }
}

/** Everything is read from the table of entries. */
function fromTable(within: Range, figures: readonly Figure[]): Scan {
  return { plan: { periods: [], cut: [], raw: [within] }, figures, read: async function* () {} }
}

/** Segments that are read in less time than the entries of a filter are counted. */
const FEW_PERIODS = 12

/** Entries that an index finds in less time than the segment of a quiet day takes. */
const ENTRIES_PER_PERIOD = 32

/** With a cold cache, each entry of an index costs an access to the disk. */
const ENTRIES_FROM_TABLE = 2_000

/** The columns of a year have hundreds of segments, all of which are read for the few entries of a ticket. */
async function isFasterFromTable(reader: Reader, filter: EntryFilter, within: Range, { periods, cut }: ReadingPlan) {
  const read = periods.length + cut.length
  if (read < FEW_PERIODS) return false
  return isOfFewEntries(reader, filter, within, Math.min(ENTRIES_FROM_TABLE, read * ENTRIES_PER_PERIOD))
}

/** Leaves out what has many rows, where the fewest sums of a month that tell say that no entry of it passes. */
async function withoutEmptyPeriods(
  reader: Reader,
  steps: readonly Step[],
  { within, state, ...tests }: Pick<Reading, 'tested' | 'selection' | 'within'> & { state: RollupState | undefined },
): Promise<readonly Step[]> {
  const { number } = bestGrain('month', tests.tested.keys)
  const isLarge = ({ grain }: Step) => grain !== number
  if (!state || steps.filter(isLarge).length < FEW_PERIODS) return steps
  const months = planReading([within.from, within.to], within, state).periods.filter(({ level }) => level === 'month')
  const empty = new EmptyPeriods(reader, { ...tests, endedAfter: undefined, months })
  const left: Step[] = []
  for (const step of steps) if (!isLarge(step) || !(await empty.contain(step.period))) left.push(step)
  return left
}

/** The plan for the time zone whose roll-up leaves least to read from entries; while zones are changed there are two. */
export async function bestPlan(
  reader: Reader,
  bounds: readonly number[],
  within: Range,
  { withMonths, format }: { withMonths: boolean; format: number },
) {
  const plans: { plan: ReadingPlan; state?: RollupState }[] = []
  for (const { zone, ready } of await listZones(reader)) {
    if (!ready) continue
    const state = await readState(reader, zone, within, format)
    plans.push({ plan: planReading(bounds, within, state, { withMonths }), state })
  }
  plans.sort((one, other) => rawLengthOf(one.plan) - rawLengthOf(other.plan))
  return plans[0] ?? { plan: { periods: [], cut: [], raw: [within] }, state: undefined }
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
  const ofSums = [...new Set<ColumnName>([...keys, ...tested.keys, ...figures.flatMap(summedOf)])]
  const tests = [...keys, ...tested.keys, ...tested.measures, 'startedAt', 'duration'] as const
  const measures = figures.flatMap((figure) => MEASURES_OF[figure])
  const ofEntries = [...new Set<ColumnName>([...tests, ...measures])]
  const ofStraddling = reading.onlyStraddling ? ofEntries : [...new Set<ColumnName>(tests)]
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
  const straddlers = segmentsOf(STRADDLING_GRAIN, ofStraddling, (step) => step.grain !== ENTRIES_GRAIN)
  for (const { period, grain } of steps) {
    const segment = await segments.get(grain)!.take(period)
    if (grain === ENTRIES_GRAIN) {
      if (segment) yield* rowsOfEntries(segment, period, reading)
      continue
    }
    const bucket = bucketAt(reading.bounds, period.startsAt)
    if (segment && !reading.onlyStraddling) {
      const chosen = segment.of(selection.rowsOf(segment))
      if (chosen.length > 0)
        yield { bucket, rows: rowsOf(chosen, keys, [ZERO_FIGURE, ...figuresOfSums(chosen, figures)]) }
    }
    const straddling = await straddlers.take(period)
    if (straddling) yield { bucket, rows: rowsOfStraddling(straddling, period, bucket, reading) }
  }
}

function rowsOf(segment: Segment, keys: readonly EntryKey[], figures: RowFigure[]): Rows {
  return { length: segment.length, keys: keys.map((key) => segment.keys(key)), figures }
}

/** The rows of entries, bucket by bucket. */
function* rowsOfEntries(segment: Segment, { startsAt, endsAt }: Period, reading: Reading) {
  const { bounds, within, selection, keys, figures, onlyStraddling } = reading
  const until = Math.min(endsAt, within.to)
  const firstAtOrAfter = (moment: number) => {
    if (moment <= startsAt || moment >= endsAt) return moment <= startsAt ? 0 : segment.length
    const starts = segment.integers('startedAt').values
    return firstIndex(starts.length, (at) => starts[at]! >= moment)
  }
  for (let bucket = Math.max(0, bucketAt(bounds, startsAt)); bucket + 1 < bounds.length; bucket += 1) {
    if (bounds[bucket]! >= until) return
    const from = firstAtOrAfter(Math.max(bounds[bucket]!, within.from))
    const to = firstAtOrAfter(Math.min(bounds[bucket + 1]!, until))
    if (from >= to) continue
    let chosen = segment.of(selection.rowsOf(segment, from, to))
    if (onlyStraddling) chosen = endingAfter(chosen, bounds[bucket + 1]!)
    const straddling = countOf(chosen, endsAfter(chosen, bounds[bucket + 1]!))
    yield { bucket, rows: rowsOf(chosen, keys, [straddling, ...figuresOfEntries(chosen, figures)]) }
  }
}

/** The sessions that continued past the end of both their period and their bucket, which the sums do not contain. */
function rowsOfStraddling(segment: Segment, period: Period, bucket: number, reading: Reading): Rows {
  const { bounds, selection, keys, figures, onlyStraddling } = reading
  const end = bounds[bucket + 1]!
  const passed = segment.of(selection.rowsOf(segment))
  const chosen = end > period.endsAt ? endingAfter(passed, end) : passed
  // The sums contain all other figures, if they are requested.
  const others = onlyStraddling ? figuresOfEntries(chosen, figures) : figures.map(() => NO_FIGURE)
  return rowsOf(chosen, keys, [onesOf(chosen.length), ...others])
}

function endingAfter(segment: Segment, moment: number): Segment {
  return segment.of(testedRows(segment, endsAfter(segment, moment), undefined))
}

/** 1 for each row that passes. */
function countOf({ length }: Segment, test: RowTest): RowFigure {
  if (typeof test === 'boolean') return test ? onesOf(length) : ZERO_FIGURE
  const values = new Float64Array(length)
  for (let row = 0; row < length; row += 1) if (test(row)) values[row] = 1
  return { integers: { values }, isNone: false, bound: length }
}

/** The bucket that contains a moment; -1 before the first one. */
function bucketAt(bounds: readonly number[], moment: number): number {
  return firstIndex(bounds.length, (at) => bounds[at]! > moment) - 1
}
