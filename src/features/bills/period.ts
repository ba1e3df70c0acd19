/** The days that a bill is for, in the organization's zone. Pure. */

export interface Period {
  /** Days, both included: `2026-11-01`. */
  from: string
  to: string
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/

/** Whether the text is a day that the calendar has. */
export function isDay(text: string): boolean {
  if (!DAY.test(text)) return false
  const midnight = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().slice(0, 10) === text
}

/** The first and the last day of a month such as `2026-11`; undefined where it is none. */
export function monthPeriod(month: string): Period | undefined {
  if (!MONTH.test(month)) return undefined
  const from = Temporal.PlainDate.from(`${month}-01`)
  return { from: from.toString(), to: from.add({ months: 1 }).subtract({ days: 1 }).toString() }
}

/** The moments that a period begins and ends at, in milliseconds since 1970; the end is exclusive. */
export function spanOf({ from, to }: Period, timeZone: string): { startingAt: number; endingAt: number } {
  const start = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).epochMilliseconds
  return {
    startingAt: start(Temporal.PlainDate.from(from)),
    endingAt: start(Temporal.PlainDate.from(to).add({ days: 1 })),
  }
}

/** The day that a moment falls on. */
export function dayOf(moment: number, timeZone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timeZone).toPlainDate().toString()
}

export function addDays(day: string, days: number): string {
  return Temporal.PlainDate.from(day).add({ days }).toString()
}
