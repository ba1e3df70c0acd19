/**
 * Finds the first entries that a filter lets through, in the order of time or of a figure: from the columns of days, and
 * from the table of entries where these have changed since. Days of which a month's sums say that they have none are
 * not looked at.
 */
import type { Reader } from '../../../database/database.ts'
import { ALL_TIMES, type Period, planReading, type Range, type ReadingPlan, type RollupState } from './plan.ts'
import { ENTRIES_GRAIN, findGrain, type Measure, roughCostsOf, type Segment } from './segment.ts'
import { type Selection, type TestedColumns, testedColumns } from './selection.ts'
import { listZones, readSegments, readState, Segments } from './store/periods.ts'
import { listRanked, type Ranked, type SearchOrder, type SearchTask } from './store/search.ts'
import { resolveSelection } from './store/selection.ts'

/** Of days without columns that are read from the table of entries. Usually these are today and yesterday. */
const RAW_LIMIT_MS = 4 * 86_400_000

/** Undefined if columns can't answer the filter, or are not ready for the whole period. */
export async function searchEntries(reader: Reader, task: SearchTask): Promise<Ranked[] | undefined> {
  const { viewer, filter } = task
  const tested = testedColumns(filter, viewer)
  const zone = (await listZones(reader)).find(({ ready }) => ready)?.zone
  if (!tested || zone === undefined) return undefined
  const within = { from: filter.starting_at ?? ALL_TIMES.from, to: filter.ending_at ?? ALL_TIMES.to }
  const top = new Top(task)
  if (within.from >= within.to) return top.ranked()
  const selection = await resolveSelection(reader, viewer, filter)
  const state = await readState(reader, zone, within)
  if (rawLength(planReading([within.from, within.to], within, state, { withMonths: false })) > RAW_LIMIT_MS)
    return undefined
  const steps = await stepsOf(reader, { tested, selection, state, within, isAscending: task.order === 'asc' })
  const tests = [...tested.keys, ...tested.measures]
  const days = steps.flatMap((step) => ('id' in step ? [step] : []))
  const testing = new Segments(reader, ENTRIES_GRAIN, days, tests.length > 0 ? tests : ['id'])
  for (const step of steps) {
    if (task.sort === 'started_at' && top.isFull) break
    if ('id' in step) {
      const segment = await testing.take(step)
      const rows = segment && selection.rowsOf(segment)
      // A day without entries has no segment.
      if (segment && rows?.length !== 0) await addRows(reader, step, rows, { task, within, top })
    } else top.addAll(await listRanked(reader, { ...task, after: top.after, range: step }))
  }
  return top.ranked()
}

function rawLength({ raw }: ReadingPlan): number {
  return raw.reduce((sum, { from, to }) => sum + to - from, 0)
}

const MEASURES_OF: Record<SearchOrder, readonly Measure[]> = {
  started_at: [],
  cost: ['listValue', 'reportedCost'],
  tokens: ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'],
  duration: ['duration'],
}

interface Search {
  tested: TestedColumns
  selection: Selection
  state: RollupState
  within: Range
  isAscending: boolean
}

/** The days with columns, and the ranges without, in the order of time. */
async function stepsOf(reader: Reader, search: Search): Promise<(Period | Range)[]> {
  const { within, state, isAscending } = search
  const bounds = [within.from, within.to]
  const barren = await barrenMonths(reader, search)
  const isBarren = (day: Period) => barren.some(({ from, to }) => day.startsAt >= from && day.endsAt <= to)
  const { periods, cut, raw } = planReading(bounds, within, state, { withMonths: false })
  const startOf = (step: Period | Range) => ('id' in step ? step.startsAt : step.from)
  const steps = [...periods, ...cut].filter((day) => !isBarren(day))
  const sign = isAscending ? 1 : -1
  return [...steps, ...raw].sort((one, other) => sign * (startOf(one) - startOf(other)))
}

/** The months whose sums have no group that passes. */
async function barrenMonths(reader: Reader, { tested, selection, state, within }: Search): Promise<Range[]> {
  const grain = tested.measures.length === 0 ? findGrain('month', tested.keys) : undefined
  if (!grain || tested.keys.length === 0) return []
  const { periods } = planReading([within.from, within.to], within, state)
  const months = periods.filter(({ level }) => level === 'month')
  const barren: Range[] = []
  for await (const { period, segment } of readSegments(reader, grain.number, months, tested.keys)) {
    if (selection.rowsOf(segment)?.length === 0) barren.push({ from: period.startsAt, to: period.endsAt })
  }
  return barren
}

/** Adds rows of a day, of which the other columns are read only now. */
async function addRows(
  reader: Reader,
  day: Period,
  rows: Int32Array | undefined,
  { task, within, top }: { task: SearchTask; within: Range; top: Top },
): Promise<void> {
  const names = new Set([...MEASURES_OF[task.sort], 'id', 'startedAt'] as const)
  const segment = (await new Segments(reader, ENTRIES_GRAIN, [day], [...names]).take(day))!
  const starts = segment.integers('startedAt').values
  const values = valuesOf(segment, task.sort)
  const ids = segment.integers('id').values
  for (const row of rows ?? starts.keys()) {
    const start = starts[row]!
    if (start >= within.from && start < within.to) top.add(values[row]!, ids[row]!)
  }
}

function valuesOf(segment: Segment, sort: SearchOrder): Float64Array {
  if (sort === 'cost') return roughCostsOf(segment)
  if (sort !== 'tokens') return segment.integers(sort === 'duration' ? 'duration' : 'startedAt').values
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
    const { after } = this
    if (after && this.#compare(value, id, after.value ?? Number.NaN, after.id) <= 0) return
    if (this.#last && this.#compare(value, id, this.#last.value, this.#last.id) >= 0) return
    this.#found.push({ value, id })
    if (this.#found.length >= 2 * this.#limit) this.#trim()
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
