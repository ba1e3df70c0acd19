/** Moments and durations as text. Moments are milliseconds since 1970. */
import { dayAt, isDate, startOfDay } from './calendar.ts'
import { isWritable, parseTimestamp } from './timestamp.ts'

const HOUR_MS = 3_600_000

/** Intentionally without months and years: their lengths vary, and a date is clearer. */
const UNITS_MS: Record<string, number> = { min: 60_000, h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS }

const DURATION = /^(\d{1,6})(min|h|d|w)$/

/** `90d`, `12h`, `30min`, `2w` in milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text.trim()) ?? []
  return count && unit ? Number(count) * UNITS_MS[unit]! : undefined
}

/**
 * A timestamp, which has an offset, or a date: the first moment of that day in the time zone. Undefined for anything
 * else, including days that don't exist (`2026-02-30`). `Temporal` would read the date of a timestamp and drop its offset.
 */
export function parseMoment(text: string, timeZone: string): number | undefined {
  const trimmed = text.trim()
  if (!isDate(trimmed)) return parseTimestamp(trimmed)
  const moment = startOfDay(trimmed, timeZone)
  return isWritable(moment) ? moment : undefined
}

/** A moment in the format of responses: RFC 3339, in UTC, with milliseconds. */
export function timestamp(moment: number): string {
  return new Date(moment).toISOString()
}

/**
 * A moment for people: the day that begins then in the time zone, `2026-12-01 UTC` for one of UTC that begins at another
 * time there, else a timestamp.
 */
export function momentText(
  moment: number,
  timeZone: string,
  write: { day: (day: string) => string; time: (moment: number) => string } = { day: (day) => day, time: timestamp },
): string {
  const [day, utcDay] = [dayAt(moment, timeZone), dayAt(moment, 'UTC')]
  if (startOfDay(day, timeZone) === moment) return write.day(day)
  return startOfDay(utcDay, 'UTC') === moment ? `${write.day(utcDay)} UTC` : write.time(moment)
}

export function timestampOrNull(moment: number | null): string | null {
  return moment === null ? null : timestamp(moment)
}
