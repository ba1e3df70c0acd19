/**
 * Plans which sums a report reads from whole days and months of the roll-up that are valid, and which from the entries.
 * Pure. Bounds are arbitrary: a period can be used if it lies within one bucket, in any time zone.
 */

/** Milliseconds since 1970, the end exclusive. */
export interface Range {
  from: number
  to: number
}

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
  /** Periods with sums that are read from the roll-up. */
  periods: Period[]
  /** Ranges that are read from entries: ascending and disjoint. */
  raw: Range[]
  /** The remaining ranges: here the roll-up must be valid at the moment of reading. */
  trusted: Range[]
  /** The number of days with a row that overlap with it. Others were treated as empty, which may have changed. */
  trustedDays: number
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

/** The first position at which `isReached` is true, in a list where it changes only once. */
function firstWhere<Item>(list: readonly Item[], isReached: (item: Item) => boolean): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isReached(list[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

/** Plans how to read the buckets between `bounds`, limited to `within`. */
export function planReading(bounds: readonly number[], within: Range, state: RollupState): ReadingPlan {
  const holds = (period: Period) => {
    const { first, last } = hoursOf({ from: period.startsAt, to: period.endsAt })
    const next = state.staleHours[firstWhere(state.staleHours, (hour) => hour >= first)]
    return period.state === 'clean' && (next === undefined || next > last)
  }
  const months = state.periods.filter((period) => period.level === 'month' && holds(period))
  const days = state.periods.filter((period) => period.level === 'day')
  const holding = new Set(days.filter(holds))

  const periods: Period[] = []
  const raw: Range[] = []
  const readRaw = (range: Range) => {
    const last = raw.at(-1)
    if (last?.to === range.from) last.to = range.to
    else raw.push({ ...range })
  }
  const readDays = ({ from, to }: Range) => {
    for (let at = firstWhere(days, ({ endsAt }) => endsAt > from); at < days.length; at += 1) {
      const day = days[at]!
      if (day.startsAt >= to) return
      if (day.startsAt >= from && day.endsAt <= to && holding.has(day)) periods.push(day)
      else readRaw({ from: Math.max(from, day.startsAt), to: Math.min(to, day.endsAt) })
    }
  }
  for (const bucket of clippedBuckets(bounds, within)) {
    let { from } = bucket
    for (let at = firstWhere(months, ({ startsAt }) => startsAt >= from); at < months.length; at += 1) {
      const month = months[at]!
      if (month.endsAt > bucket.to) break
      readDays({ from, to: month.startsAt })
      periods.push(month)
      from = month.endsAt
    }
    readDays({ from, to: bucket.to })
  }
  const trusted = without(within, raw)
  const isTrusted = ({ startsAt, endsAt }: Period) => trusted.some(({ from, to }) => startsAt < to && endsAt > from)
  return { periods, raw, trusted, trustedDays: days.filter(isTrusted).length }
}

function* clippedBuckets(bounds: readonly number[], within: Range): Generator<Range> {
  for (let bucket = 0; bucket + 1 < bounds.length; bucket += 1) {
    const from = Math.max(bounds[bucket]!, within.from)
    const to = Math.min(bounds[bucket + 1]!, within.to)
    if (from < to) yield { from, to }
  }
}

/** The parts of a range outside of others, which are ascending and within it. */
function without({ from, to }: Range, others: Range[]): Range[] {
  const starts = [from, ...others.map((other) => other.to)]
  const ends = [...others.map((other) => other.from), to]
  return starts.map((start, at) => ({ from: start, to: ends[at]! })).filter((range) => range.from < range.to)
}
