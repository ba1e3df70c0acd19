/** Moments and durations as text. Moments are milliseconds since 1970. */
const HOUR_MS = 3_600_000

/** Intentionally without months and years: their lengths vary, and a date is clearer. */
const UNITS_MS: Record<string, number> = { min: 60_000, h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS }

const DURATION = /^(\d{1,6})(min|h|d|w)$/
const DATE = /^\d{4}-\d{2}-\d{2}$/
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i

/** `90d`, `12h`, `30min`, `2w` in milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text.trim()) ?? []
  return count && unit ? Number(count) * UNITS_MS[unit]! : undefined
}

/**
 * An RFC 3339 timestamp, or a date (its first moment in UTC), in milliseconds since 1970. Undefined for anything else,
 * including days that don't exist (`2026-02-30`) and times without an offset.
 */
export function parseMoment(text: string): number | undefined {
  const trimmed = text.trim()
  const day = DATE.test(trimmed) ? trimmed : TIMESTAMP.exec(trimmed)?.[1]
  if (day === undefined) return undefined
  // Date.parse would read 30 February as 2 March.
  const midnight = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return undefined
  const moment = Date.parse(trimmed)
  return Number.isNaN(moment) ? undefined : moment
}

/** A moment in the format of responses: RFC 3339, in UTC, with milliseconds. */
export function timestamp(moment: number): string {
  return new Date(moment).toISOString()
}

export function timestampOrNull(moment: number | null): string | null {
  return moment === null ? null : timestamp(moment)
}
