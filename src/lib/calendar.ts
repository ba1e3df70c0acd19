/**
 * Calendar days and months, such as `2026-11-30` and `2026-11`, and their start and end in a time zone. Pure.
 *
 * A day starts at its first moment: not midnight if a clock change skips it, and the first midnight if there are two.
 * If clocks go back past midnight, the repeated hour belongs to the new day, so that no day occurs twice.
 */

/** Both days are included. */
export interface Days {
  from: string
  to: string
}

/** In milliseconds since 1970; `endingAt` is not included. */
export interface Span {
  startingAt: number
  endingAt: number
}

/** The years 0001 to 9998: RFC 3339 can write when their days begin and end, in every time zone. */
const ANY_YEAR = '(?!0000|9999)\\d{4}'
const DATE = /^\d{4}-\d{2}-\d{2}$/
const DAY = new RegExp(`^${ANY_YEAR}-\\d{2}-\\d{2}$`)
const YEAR = new RegExp(`^${ANY_YEAR}$`)
const QUARTER = new RegExp(`^(${ANY_YEAR})-Q([1-4])$`, 'i')
const MONTH = new RegExp(`^${ANY_YEAR}-(0[1-9]|1[0-2])$`)

/** Whether the text is an existing day of these years. */
export function isDay(text: string): boolean {
  return DAY.test(text) && isDate(text)
}

/** Whether the text is an existing day of any year, whose first moment may be meant. */
export function isDate(text: string): boolean {
  // Date would read 30 February as 2 March, and Temporal would read the date of a timestamp and ignore its offset.
  if (!DATE.test(text)) return false
  const midnight = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().slice(0, 10) === text
}

/** The days of a month; undefined if the text is not a month. */
export function daysOfMonth(month: string): Days | undefined {
  return MONTH.test(month) ? daysOfMonths(month, 1) : undefined
}

/** The days of a quarter, `2026-Q4`; undefined if the text is not a quarter. */
export function daysOfQuarter(text: string): Days | undefined {
  const [, year, quarter] = QUARTER.exec(text) ?? []
  if (!year) return undefined
  return daysOfMonths(`${year}-${String(Number(quarter) * 3 - 2).padStart(2, '0')}`, 3)
}

/** The days of a year, `2026`; undefined if the text is not a year. */
export function daysOfYear(year: string): Days | undefined {
  return YEAR.test(year) ? daysOfMonths(`${year}-01`, 12) : undefined
}

function daysOfMonths(month: string, months: number): Days {
  const first = Temporal.PlainDate.from(`${month}-01`)
  return { from: first.toString(), to: first.add({ months }).subtract({ days: 1 }).toString() }
}

export function addDays(day: string, days: number): string {
  return Temporal.PlainDate.from(day).add({ days }).toString()
}

/** The period of whole days. */
export function spanOf({ from, to }: Days, timeZone: string): Span {
  return { startingAt: startOfDay(from, timeZone), endingAt: startOfDay(addDays(to, 1), timeZone) }
}

export function startOfDay(day: string, timeZone: string): number {
  return startOfDate(Temporal.PlainDate.from(day), timeZone)
}

/** A clock time without an offset, such as `2026-11-03 10:00`. */
const CLOCK_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2})?$/

/** The moment so many months before another, at the same time of the day. */
export function monthsBefore(moment: number, months: number, timeZone: string): number {
  const at = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timeZone)
  return at.subtract({ months }).epochMilliseconds
}

export function isClockTime(text: string): boolean {
  return CLOCK_TIME.test(text)
}

/** The moment of a clock time; undefined if the clocks of the zone never show it, or show it twice. */
export function momentOfClockTime(text: string, timeZone: string): number | undefined {
  try {
    const time = Temporal.PlainDateTime.from(text, { overflow: 'reject' })
    return time.toZonedDateTime(timeZone, { disambiguation: 'reject' }).epochMilliseconds
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The day that a moment falls on. */
export function dayAt(moment: number, timeZone: string): string {
  return dateAt(moment, timeZone).toString()
}

const DAY_MS = 86_400_000

interface DayRange extends Span {
  day: number
  timeZone: string
}

/** The days that were asked for last, the latest first: calculating one takes longer than what most callers do with it. */
const KEPT_DAYS = 32
let keptDays: readonly DayRange[] = []

/** The day that a moment falls on, as the number of days since 1970. */
export function dayNumberAt(moment: number, timeZone: string): number {
  for (const kept of keptDays) {
    if (moment >= kept.startingAt && moment < kept.endingAt && timeZone === kept.timeZone) return kept.day
  }
  const date = dateAt(moment, timeZone)
  const day = Date.UTC(date.year, date.month - 1, date.day) / DAY_MS
  const endingAt = startOfDate(date.add({ days: 1 }), timeZone)
  keptDays = [{ day, timeZone, startingAt: startOfDate(date, timeZone), endingAt }, ...keptDays.slice(0, KEPT_DAYS - 1)]
  return day
}

/** Such as `2026-11-30`, by the number of days since 1970. */
export function dayText(day: number): string {
  // Most answers to reports are of the same day.
  if (day !== latestDay.day) latestDay = { day, text: new Date(day * DAY_MS).toISOString().slice(0, 10) }
  return latestDay.text
}

let latestDay = { day: 0, text: '1970-01-01' }

/** Like {@link startOfDay}, for a Temporal date. */
export function startOfDate(date: Temporal.PlainDate, timeZone: string): number {
  return date.toZonedDateTime(timeZone).epochMilliseconds
}

/** Like {@link dayAt}, as a Temporal date. */
export function dateAt(moment: number, timeZone: string): Temporal.PlainDate {
  const shown = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timeZone).toPlainDate()
  const next = shown.add({ days: 1 })
  return startOfDate(next, timeZone) <= moment ? next : shown
}
