/**
 * Days and months of the calendar, as `2026-11-30` and `2026-11`, and the moments that they are in a time zone. Pure.
 *
 * A day begins at its first moment, which is not midnight where the clocks skip it, and of two midnights at the first.
 * Clocks that go back over midnight show yesterday once more, when today has begun already: days do not come twice.
 */

/** Days, both included. */
export interface Days {
  from: string
  to: string
}

/** From its first moment to just before its last, in milliseconds since 1970. */
export interface Span {
  startingAt: number
  endingAt: number
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/

/** Whether the text is a day that the calendar has. */
export function isDay(text: string): boolean {
  // A date would take 30 February for 2 March, and Temporal the date of a timestamp, without its offset.
  if (!DAY.test(text)) return false
  const midnight = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().slice(0, 10) === text
}

/** The days of a month; undefined for a text that names none. */
export function daysOfMonth(month: string): Days | undefined {
  if (!MONTH.test(month)) return undefined
  const first = Temporal.PlainDate.from(`${month}-01`)
  return { from: first.toString(), to: first.add({ months: 1 }).subtract({ days: 1 }).toString() }
}

export function addDays(day: string, days: number): string {
  return Temporal.PlainDate.from(day).add({ days }).toString()
}

/** The moments that days begin and end at. */
export function spanOf({ from, to }: Days, timeZone: string): Span {
  return { startingAt: startOfDay(from, timeZone), endingAt: startOfDay(addDays(to, 1), timeZone) }
}

export function startOfDay(day: string, timeZone: string): number {
  return startOfDate(Temporal.PlainDate.from(day), timeZone)
}

/** The day that a moment falls on. */
export function dayAt(moment: number, timeZone: string): string {
  return dateAt(moment, timeZone).toString()
}

/** As {@link startOfDay}, for those who calculate with dates. */
export function startOfDate(date: Temporal.PlainDate, timeZone: string): number {
  return date.toZonedDateTime(timeZone).epochMilliseconds
}

/** As {@link dayAt}, for those who calculate with dates. */
export function dateAt(moment: number, timeZone: string): Temporal.PlainDate {
  const shown = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timeZone).toPlainDate()
  const next = shown.add({ days: 1 })
  return startOfDate(next, timeZone) <= moment ? next : shown
}
