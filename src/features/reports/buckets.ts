/**
 * The buckets of a report: hours, days, weeks and months in a time zone. Pure.
 *
 * Buckets follow each other without gaps or overlaps, also when the clocks change. An hour ends when the local time
 * reaches the next one, and also when the clocks change: the two hours from 2 to 3 in an autumn night are two buckets.
 */

import { dateAt, type Span, startOfDate } from '../../lib/calendar.ts'

export const BUCKET_WIDTHS = ['1h', '1d', '1w', '1mo', 'all'] as const
export type BucketWidth = (typeof BUCKET_WIDTHS)[number]

export interface Bucket extends Span {
  /** The full hour, day, week or month of the bucket, which the query may cover only partly. */
  period: Span
}

export interface BucketsQuery extends Span {
  width: BucketWidth
  timeZone: string
}

const HOUR_MS = 3_600_000

/** The minimum duration of a bucket, except for the few that a clock change shortens. */
const USUAL_MS: Record<BucketWidth, number> = {
  '1h': HOUR_MS,
  '1d': 24 * HOUR_MS,
  '1w': 7 * 24 * HOUR_MS,
  '1mo': 28 * 24 * HOUR_MS,
  all: Number.POSITIVE_INFINITY,
}

/** The approximate number of buckets: exact, or slightly too high for months. */
export function countBuckets({ startingAt, endingAt, width }: BucketsQuery): number {
  return Math.ceil((endingAt - startingAt) / USUAL_MS[width])
}

/** The first `limit` buckets. The first and the last one are limited to the query's range. */
export function bucketsOf({ startingAt, endingAt, width, timeZone }: BucketsQuery, limit: number): Bucket[] {
  const buckets: Bucket[] = []
  for (let start = startingAt; start < endingAt && buckets.length < limit; ) {
    const period = width === 'all' ? { startingAt, endingAt } : periodAt(start, width, timeZone)
    const end = Math.min(period.endingAt, endingAt)
    buckets.push({ startingAt: start, endingAt: end, period })
    start = end
  }
  return buckets
}

/** The hour, day, week or month that contains a moment. */
export function periodAt(moment: number, width: Exclude<BucketWidth, 'all'>, timeZone: string): Span {
  return width === '1h' ? hourAt(moment, timeZone) : daysAt(moment, width, timeZone)
}

/** The canonical name of a time zone; undefined for one that does not exist, and for a plain offset. */
export function findTimeZone(name: string): string | undefined {
  if (/^[+-]/.test(name)) return undefined
  try {
    return zoned(0, name).timeZoneId
  } catch {
    return undefined
  }
}

function zoned(moment: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timeZone)
}

function hourAt(moment: number, timeZone: string): Span {
  const local = zoned(moment, timeZone)
  const offset = local.offsetNanoseconds / 1_000_000
  const startingAt = Math.floor((moment + offset) / HOUR_MS) * HOUR_MS - offset
  // The last clock change up to and including the moment.
  const changed = zoned(moment + 1, timeZone).getTimeZoneTransition('previous')?.epochMilliseconds
  const changes = local.getTimeZoneTransition('next')?.epochMilliseconds
  return {
    startingAt: Math.max(startingAt, changed ?? startingAt),
    endingAt: Math.min(startingAt + HOUR_MS, changes ?? Number.POSITIVE_INFINITY),
  }
}

const STEPS = { '1d': { days: 1 }, '1w': { weeks: 1 }, '1mo': { months: 1 } } as const

function daysAt(moment: number, width: keyof typeof STEPS, timeZone: string): Span {
  const first = firstDateOf(dateAt(moment, timeZone), width)
  return { startingAt: startOfDate(first, timeZone), endingAt: startOfDate(first.add(STEPS[width]), timeZone) }
}

/** Weeks begin on Monday (ISO 8601). */
function firstDateOf(date: Temporal.PlainDate, width: keyof typeof STEPS): Temporal.PlainDate {
  if (width === '1d') return date
  return width === '1w' ? date.subtract({ days: date.dayOfWeek - 1 }) : date.with({ day: 1 })
}
