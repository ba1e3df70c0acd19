/**
 * The buckets of a report: hours, days, weeks, months, quarters and years in a time zone. Pure.
 *
 * Buckets follow each other without gaps or overlaps, also when the clocks change. An hour ends when the local time
 * reaches the next one, and also when the clocks change: the two hours from 2 to 3 in an autumn night are two buckets.
 */

import { WEEKDAYS } from '../../database/schema/values.ts'
import type { Span } from '../../lib/calendar.ts'
import { type Calendar, calendarPeriodAt } from '../../shared/calendar-periods.ts'

export { WEEKDAYS }

export const BUCKET_WIDTHS = ['1h', '1d', '1w', '1mo', '1q', '1y', 'all'] as const
export type BucketWidth = (typeof BUCKET_WIDTHS)[number]

export interface Bucket extends Span {
  /** The full hour, day, week, month, quarter or year of the bucket, which the query may cover only partly. */
  period: Span
}

export interface BucketsQuery extends Span, Calendar {
  width: BucketWidth
}

const HOUR_MS = 3_600_000

const PERIODS = { '1d': 'day', '1w': 'week', '1mo': 'month', '1q': 'quarter', '1y': 'year' } as const

/** The minimum duration of a bucket, except for the few that a clock change shortens. */
const USUAL_MS: Record<BucketWidth, number> = {
  '1h': HOUR_MS,
  '1d': 24 * HOUR_MS,
  '1w': 7 * 24 * HOUR_MS,
  '1mo': 28 * 24 * HOUR_MS,
  '1q': 90 * 24 * HOUR_MS,
  '1y': 365 * 24 * HOUR_MS,
  all: Number.POSITIVE_INFINITY,
}

/** The approximate number of buckets: exact, or slightly too high for months and longer ones. */
export function countBuckets({ startingAt, endingAt, width }: BucketsQuery): number {
  return Math.ceil((endingAt - startingAt) / USUAL_MS[width])
}

/** The first `limit` buckets. The first and the last one are limited to the query's range. */
export function bucketsOf({ startingAt, endingAt, width, ...calendar }: BucketsQuery, limit: number): Bucket[] {
  const buckets: Bucket[] = []
  for (let start = startingAt; start < endingAt && buckets.length < limit; ) {
    const period = width === 'all' ? { startingAt, endingAt } : periodAt(start, width, calendar)
    const end = Math.min(period.endingAt, endingAt)
    buckets.push({ startingAt: start, endingAt: end, period })
    start = end
  }
  return buckets
}

/** The hour, day, week, month, quarter or year that contains a moment. */
export function periodAt(moment: number, width: Exclude<BucketWidth, 'all'>, calendar: Calendar): Span {
  return width === '1h' ? hourAt(moment, calendar.timeZone) : calendarPeriodAt(moment, PERIODS[width], calendar)
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
