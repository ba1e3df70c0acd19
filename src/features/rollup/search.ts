/**
 * Finds the first entries that a filter lets through, in the order of time or of a figure: from the columns of days, and
 * from the table of entries where these have changed since. Days of which the sums of their month say that they have
 * none are not looked at.
 */

import { visibleKeys } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import type { ListSort, SortFigure } from '../selection/contract.ts'
import { EmptyPeriods } from './empty-periods.ts'
import { roughCostsOf } from './figures.ts'
import { ALL_TIMES, type Period, planReading, type Range, rawLengthOf } from './plan.ts'
import { ENTRIES_GRAIN, formatWith, type Measure, type Segment } from './segment.ts'
import { answeredPart, type Selection, type TestedColumns, testedColumns } from './selection.ts'
import { listZones, readSegment, readState } from './store/periods.ts'
import { listRanked, type Ranked, type SearchTask } from './store/search.ts'
import { mayBeValued, resolveSelection } from './store/selection.ts'

/** Of days without columns that are read from the table of entries. Usually these are today and yesterday. */
const RAW_LIMIT_MS = 4 * 86_400_000

export interface Found {
  ranked: Ranked[]
  /** If the time was over: entries before this moment, in ascending order of time those from it on, were not looked at. */
  searchedTo: number | undefined
}

/** Undefined if columns can't answer the filter, or are not ready for the whole period. */
export async function searchEntries(reader: Reader, task: SearchTask): Promise<Found | undefined> {
  const endsAt = performance.now() + (task.budgetMs ?? Number.POSITIVE_INFINITY)
  const search = await searchOf(reader, task, MEASURES_OF[task.sort])
  if (!search) return undefined
  const { within } = search
  const top = new Top(task)
  for (const [at, step] of search.steps.entries()) {
    if (task.sort === 'started_at' && top.isFull) break
    if (at > 0 && performance.now() >= endsAt) return { ranked: top.ranked(), searchedTo: reachOf(task, step) }
    if (!('id' in step)) top.addAll(await listRanked(reader, { ...task, after: top.after, range: step }))
    else {
      const rows = await passingRows(reader, search, step)
      if (rows?.length !== 0) await addRows(reader, step, rows, { sort: task.sort, within, top })
    }
  }
  return { ranked: top.ranked(), searchedTo: undefined }
}

/** The moment up to which everything was looked at before this step. */
function reachOf(task: SearchTask, step: Period | Range): number {
  const { from, to } = 'id' in step ? { from: step.startsAt, to: step.endsAt } : step
  return isForward(task) ? from : to
}

/** By a figure, the latest entries are looked at first, and so they are what is found when the time is over. */
function isForward({ sort, order }: SearchTask): boolean {
  return sort === 'started_at' && order === 'asc'
}

/**
 * Where a search in the order of time should begin, of a filter that columns answer only in part: the first moment from
 * which there may be entries that match, or null if there are none. Undefined if columns don't tell.
 */
export async function findSearchStart(reader: Reader, task: SearchTask): Promise<number | null | undefined> {
  const { answered, rest } = answeredPart(task.filter)
  if (!(await mayBeValued(reader, rest))) return null
  const search = await searchOf(reader, { ...task, filter: answered })
  if (!search || search.tested.keys.length + search.tested.measures.length === 0) return undefined
  for (const step of search.steps) {
    const isDay = 'id' in step
    if (isDay && (await passingRows(reader, search, step))?.length === 0) continue
    const range = isDay ? { from: step.startsAt, to: step.endsAt } : step
    return task.order === 'asc' ? range.from : range.to
  }
  return null
}

const MEASURES_OF: Record<ListSort | SortFigure, readonly Measure[]> = {
  started_at: ['startedAt'],
  cost: ['listValue', 'reportedCost'],
  tokens: ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'],
  duration: ['duration'],
  list_value: ['listValue'],
  reported_cost: ['reportedCost'],
  marginal_cost: ['marginal'],
  allocated_cost: ['allocated'],
  input: ['input'],
  output: ['output'],
  cache_read: ['cacheRead'],
  cache_write: ['cacheWrite'],
  cache_write_1h: ['cacheWrite1h'],
}

export interface Search {
  tested: TestedColumns
  selection: Selection
  within: Range
  /** The days with columns, and the ranges without, in the order of time. */
  steps: (Period | Range)[]
  empty: EmptyPeriods
}

/**
 * Undefined if columns can't answer the filter, or are not ready for the whole period.
 * @param read of the entries that pass
 */
export async function searchOf(
  reader: Reader,
  task: SearchTask,
  read: readonly Measure[] = [],
): Promise<Search | undefined> {
  const { viewer, filter } = task
  const seen = await visibleKeys(reader, viewer)
  const tested = testedColumns(filter, seen)
  const zone = (await listZones(reader)).find(({ ready }) => ready)?.zone
  if (!tested || zone === undefined) return undefined
  const within = periodOf(task)
  const selection = await resolveSelection(reader, seen, filter)
  const bounds = [within.from, within.to]
  const format = formatWith([...tested.keys, ...tested.measures, ...tested.figures, ...read])
  const state = await readState(reader, zone, within, format)
  const plan = planReading(bounds, within, state, { withMonths: false })
  if (rawLengthOf(plan) > RAW_LIMIT_MS) return undefined
  const months = planReading(bounds, within, state).periods.filter(({ level }) => level === 'month')
  const empty = new EmptyPeriods(reader, { tested, selection, endedAfter: filter.ended_after, months })
  const startOf = (step: Period | Range) => ('id' in step ? step.startsAt : step.from)
  const sign = isForward(task) ? 1 : -1
  const steps = [...plan.periods, ...plan.cut, ...plan.raw]
  steps.sort((one, other) => sign * (startOf(one) - startOf(other)))
  return { tested, selection, within, steps, empty }
}

/** The period of the filter; in the order of time, without what is before the page. */
function periodOf({ filter, sort, order, after }: SearchTask): Range {
  const { starting_at: from = ALL_TIMES.from, ending_at: to = ALL_TIMES.to } = filter
  const last = sort === 'started_at' ? after?.value : undefined
  if (last === undefined || last === null) return { from, to }
  return order === 'asc' ? { from: Math.max(from, last), to } : { from, to: Math.min(to, last + 1) }
}

/** The rows of a day that pass; undefined if all do. */
export async function passingRows(reader: Reader, { tested, selection, empty }: Search, day: Period) {
  const tests = [...tested.keys, ...tested.measures]
  if (tests.length === 0) return undefined
  if (await empty.contain(day)) return NO_ROWS
  const segment = await readSegment(reader, ENTRIES_GRAIN, day, tests)
  // A day without entries has no segment.
  return segment ? selection.rowsOf(segment) : NO_ROWS
}

const NO_ROWS = new Int32Array(0)

/** Adds rows of a day, of which the other columns are read only now. */
async function addRows(
  reader: Reader,
  day: Period,
  rows: Int32Array | undefined,
  { sort, within, top }: Pick<SearchTask, 'sort'> & { within: Range; top: Top },
): Promise<void> {
  const isWhole = day.startsAt >= within.from && day.endsAt <= within.to
  const names = new Set<Measure>([...MEASURES_OF[sort], 'id'])
  if (!isWhole) names.add('startedAt')
  const segment = await readSegment(reader, ENTRIES_GRAIN, day, [...names])
  // Most days have no entry among the first: their values are not even unpacked.
  if (!segment || top.isBehind(rangeOf(segment, sort))) return
  const starts = isWhole ? undefined : segment.integers('startedAt').values
  const values = valuesOf(segment, sort)
  const ids = segment.integers('id').values
  // An iterator would take several times as long.
  const length = rows?.length ?? segment.length
  for (let at = 0; at < length; at += 1) {
    const row = rows ? rows[at]! : at
    if (starts && !(starts[row]! >= within.from && starts[row]! < within.to)) continue
    top.add(values[row]!, ids[row]!)
  }
}

/** Bounds of the known values of a segment, from the headers of its columns; undefined if it has none. */
function rangeOf(segment: Segment, sort: SearchTask['sort']): Bounds | undefined {
  const ranges = MEASURES_OF[sort].flatMap((name) => segment.column(name).range ?? [])
  if (ranges.length === 0) return undefined
  const [lowest, highest] = [ranges.map(({ min }) => min), ranges.map(({ max }) => max)]
  if (sort !== 'tokens') return { min: Math.min(...lowest), max: Math.max(...highest) }
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  return { min: sum(lowest), max: sum(highest) }
}

interface Bounds {
  min: number
  max: number
}

function valuesOf(segment: Segment, sort: SearchTask['sort']): Float64Array {
  if (sort === 'cost') return roughCostsOf(segment)
  if (sort !== 'tokens') return segment.integers(MEASURES_OF[sort][0]!).values
  const values = new Float64Array(segment.length)
  for (const measure of MEASURES_OF.tokens) {
    const counts = segment.integers(measure).values
    for (let row = 0; row < values.length; row += 1) values[row]! += counts[row]!
  }
  return values
}

/** The first entries of those that were added. */
class Top {
  readonly after: Ranked | undefined
  readonly #limit: number
  /** 1 in ascending order, -1 in descending. */
  readonly #sign: number
  #found: { value: number; id: number }[] = []
  /** The last of the first `limit`, once there are so many. */
  #last: { value: number; id: number } | undefined

  constructor({ after, limit, order }: SearchTask) {
    this.after = after
    this.#limit = limit
    this.#sign = order === 'asc' ? 1 : -1
  }

  get isFull(): boolean {
    return this.#found.length >= this.#limit
  }

  /** @param value NaN if it is unknown */
  add(value: number, id: number): void {
    // Most of millions of entries end here.
    if (this.#last && this.#sign * (value - this.#last.value) > 0) return
    const { after } = this
    if (after && this.#compare(value, id, after.value ?? Number.NaN, after.id) <= 0) return
    if (this.#last && this.#compare(value, id, this.#last.value, this.#last.id) >= 0) return
    this.#found.push({ value, id })
    if (this.#found.length >= 2 * this.#limit) this.#trim()
  }

  /** Whether the place of every entry is after the first `limit` ones, if their known values are within these bounds. */
  isBehind(bounds: Bounds | undefined): boolean {
    const last = this.#last?.value
    // Entries with unknown values are the last of all.
    if (last === undefined || Number.isNaN(last)) return false
    return !bounds || (this.#sign === 1 ? bounds.min > last : bounds.max < last)
  }

  addAll(ranked: readonly Ranked[]): void {
    for (const { value, id } of ranked) this.add(value ?? Number.NaN, id)
  }

  ranked(): Ranked[] {
    this.#trim()
    return this.#found.map(({ value, id }) => ({ id, value: Number.isNaN(value) ? null : value }))
  }

  #trim(): void {
    this.#found.sort((one, other) => this.#compare(one.value, one.id, other.value, other.id))
    this.#found.length = Math.min(this.#found.length, this.#limit)
    if (this.isFull) this.#last = this.#found.at(-1)
  }

  #compare(value: number, id: number, otherValue: number, otherId: number): number {
    if (value === otherValue) return this.#sign * (id - otherId)
    const [isUnknown, isOtherUnknown] = [Number.isNaN(value), Number.isNaN(otherValue)]
    if (isUnknown && isOtherUnknown) return this.#sign * (id - otherId)
    if (isUnknown || isOtherUnknown) return isUnknown ? 1 : -1
    return this.#sign * (value - otherValue)
  }
}
