/** Arithmetic of days, `2026-11-01`, and the days that a period is compared with. Pure. */

/** Both inclusive. */
export interface Period {
  /** The first day, `2026-11-01`. */
  from: string
  /** The last day. */
  to: string
}

const DAY_MS = 86_400_000

/** The day `days` later, or earlier if negative. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)

export const firstOfMonth = (day: string): string => `${day.slice(0, 7)}-01`

/** The first day of the month `months` later, or earlier if negative. */
export function addMonths(day: string, months: number): string {
  const date = new Date(`${firstOfMonth(day)}T00:00:00Z`)
  date.setUTCMonth(date.getUTCMonth() + months)
  return date.toISOString().slice(0, 10)
}

/** The number of days between two days; 0 if they are the same. */
export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS)

/** Calendar periods up to today, by their lengths: they are compared with the same days of the one before. */
const BEGUN: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 }

/**
 * The previous period for comparison: of this month, quarter or year, the same days of the one before, such as 1 to 26
 * October; of other periods, as many days, or as many whole months.
 */
export function periodBefore({ from, to }: Period, name?: string): Period {
  const months = name !== undefined && Object.hasOwn(BEGUN, name) ? BEGUN[name] : undefined
  if (months !== undefined) return { from: addMonths(from, -months), to: monthsBefore(to, months) }
  const wholeMonths = from === firstOfMonth(from) && addDays(to, 1) === firstOfMonth(addDays(to, 1))
  if (!wholeMonths) return { from: addDays(from, -daysBetween(from, to) - 1), to: addDays(from, -1) }
  let whole = 1
  while (addMonths(from, whole) <= to) whole += 1
  return { from: addMonths(from, -whole), to: addDays(from, -1) }
}

/** The same day some months earlier; of the last day of a month and of days that the month does not have, its last. */
function monthsBefore(day: string, months: number): string {
  const last = addDays(addMonths(day, 1 - months), -1)
  if (addDays(day, 1) === addMonths(day, 1)) return last
  const same = `${last.slice(0, 8)}${day.slice(8)}`
  return same < last ? same : last
}

const LEAP_DAY = '-02-29'

/** The same day a year earlier; 28 February for the 29th. */
function yearBefore(day: string): string {
  const date = `${Number(day.slice(0, 4)) - 1}${day.slice(4)}`
  return date.endsWith(LEAP_DAY) ? date.replace(LEAP_DAY, '-02-28') : date
}

/** What a period is compared with; undefined if it is not. */
export const EARLIER = {
  none: (_period: Period, _name?: string) => undefined,
  previous: periodBefore,
  year: ({ from, to }: Period, _name?: string): Period => ({ from: yearBefore(from), to: yearBefore(to) }),
} as const
