/**
 * Plans what a report reads from the days and months of the roll-up that are valid, and what from the entries. Pure.
 * Bounds are arbitrary: sums of a period can be used if it lies within one bucket, in any time zone.
 */

import { firstIndex } from '../../lib/binary-search.ts'

/** Milliseconds since 1970, the end exclusive. */
export interface Range {
  from: number
  to: number
}

/** Before and after all entries. */
export const ALL_TIMES: Range = { from: -8.64e15, to: 8.64e15 }

export interface Period {
  id: number
  level: 'day' | 'month'
  startsAt: number
  endsAt: number
  /** Whether its sums were valid when they were read. A day without a row has no known entries. */
  state: 'clean' | 'stale'
}

/** The state of a zone's roll-up between two moments. */
export interface RollupState {
  zone: string
  /** Those that overlap with the range, by start. */
  periods: Period[]
  /** Ascending. */
  staleHours: number[]
}

export interface ReadingPlan {
  /** Periods within one bucket: their sums, or all of their entries, belong to it. */
  periods: Period[]
  /** Days across the end of a bucket, or of the range: their entries are in columns, too. */
  cut: Period[]
  /** Ranges that are read from the table of entries: ascending and disjoint. */
  raw: Range[]
}

/** The time that is read from the table of entries, in milliseconds. */
export function rawLengthOf({ raw }: ReadingPlan): number {
  return raw.reduce((sum, { from, to }) => sum + to - from, 0)
}

const HOUR_MS = 3_600_000

/** The marks that changes between two moments leave. Rounds towards zero, as the triggers do. */
export function hoursOf({ from, to }: Range): { first: number; last: number } {
  return { first: Math.trunc(from / HOUR_MS), last: Math.trunc((to - 1) / HOUR_MS) }
}

/** The moments at which a change leaves this mark. Around 1970, rounding towards zero gives two hours the same mark. */
export function rangeOfHour(hour: number): Range {
  return {
    from: hour > 0 ? hour * HOUR_MS : (hour - 1) * HOUR_MS + 1,
    to: hour < 0 ? hour * HOUR_MS + 1 : (hour + 1) * HOUR_MS,
  }
}

/** The first position whose item has reached something, in a list where that changes only once. */
function firstWhere<Item>(list: readonly Item[], isReached: (item: Item) => boolean): number {
  return firstIndex(list.length, (at) => isReached(list[at]!))
}

/**
 * Plans how to read the buckets between `bounds`, limited to `within`. The state is of the moment at which the plan is
 * carried out.
 *
 * @param withMonths whether months contain what is asked for
 */
export function planReading(
  bounds: readonly number[],
  within: Range,
  state: RollupState,
  { withMonths = true }: { withMonths?: boolean } = {},
): ReadingPlan {
  const nextMark = (from: number) => state.staleHours[firstWhere(state.staleHours, (hour) => hour >= from)]
  const holds = (period: Period) => {
    const { first, last } = hoursOf({ from: period.startsAt, to: period.endsAt })
    const next = nextMark(first)
    return period.state === 'clean' && (next === undefined || next > last)
  }
  const months = withMonths ? state.periods.filter((period) => period.level === 'month' && holds(period)) : []
  const days = state.periods.filter((period) => period.level === 'day')
  const holding = new Set(days.filter(holds))

  const plan: ReadingPlan = { periods: [], cut: [], raw: [] }
  const readRaw = (range: Range) => {
    const last = plan.raw.at(-1)
    if (last?.to === range.from) last.to = range.to
    else plan.raw.push({ ...range })
  }
  // A time without a day has no entries, except those that have just arrived.
  const readMarked = ({ from, to }: Range) => {
    for (let at = from; at < to; ) {
      const hour = nextMark(hoursOf({ from: at, to }).first)
      if (hour === undefined) return
      const marked = rangeOfHour(hour)
      const start = Math.max(at, marked.from)
      if (start >= to) return
      at = Math.min(to, marked.to)
      if (start < at) readRaw({ from: start, to: at })
    }
  }
  const readDay = (day: Period, { from, to }: Range) => {
    if (!holding.has(day)) readRaw({ from: Math.max(from, day.startsAt), to: Math.min(to, day.endsAt) })
    else if (day.startsAt >= from && day.endsAt <= to) plan.periods.push(day)
    else if (plan.cut.at(-1) !== day) plan.cut.push(day)
  }
  const readDays = ({ from, to }: Range) => {
    let read = from
    for (let at = firstWhere(days, ({ endsAt }) => endsAt > from); at < days.length; at += 1) {
      const day = days[at]!
      if (day.startsAt >= to) break
      readMarked({ from: read, to: day.startsAt })
      readDay(day, { from, to })
      read = day.endsAt
    }
    readMarked({ from: read, to })
  }
  for (const bucket of clippedBuckets(bounds, within)) {
    let { from } = bucket
    for (let at = firstWhere(months, ({ startsAt }) => startsAt >= from); at < months.length; at += 1) {
      const month = months[at]!
      if (month.endsAt > bucket.to) break
      readDays({ from, to: month.startsAt })
      plan.periods.push(month)
      from = month.endsAt
    }
    readDays({ from, to: bucket.to })
  }
  return plan
}

function* clippedBuckets(bounds: readonly number[], within: Range): Generator<Range> {
  for (let bucket = 0; bucket + 1 < bounds.length; bucket += 1) {
    const from = Math.max(bounds[bucket]!, within.from)
    const to = Math.min(bounds[bucket + 1]!, within.to)
    if (from < to) yield { from, to }
  }
}
