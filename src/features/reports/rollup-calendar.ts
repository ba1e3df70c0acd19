/**
 * Local days and months as ranges of moments. Pure.
 *
 * A day begins at the first moment of its date, which is not midnight where clocks leap over it, and ends where the next
 * one begins: it has 23 or 25 hours when clocks change. Clocks that are set back just after midnight show the evening's
 * last hour once more, which then belongs to the new day, as days do not come twice.
 */
import type { Range } from './rollup-plan.ts'

function momentOf(date: Temporal.PlainDate, zone: string): number {
  return date.toZonedDateTime(zone).epochMilliseconds
}

function dateAt(moment: number, zone: string): Temporal.PlainDate {
  const date = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(zone).toPlainDate()
  const next = date.add({ days: 1 })
  return momentOf(next, zone) <= moment ? next : date
}

export function dayAt(moment: number, zone: string): Range {
  const date = dateAt(moment, zone)
  return { from: momentOf(date, zone), to: momentOf(date.add({ days: 1 }), zone) }
}

export function monthAt(moment: number, zone: string): Range {
  const first = dateAt(moment, zone).with({ day: 1 })
  return { from: momentOf(first, zone), to: momentOf(first.add({ months: 1 }), zone) }
}

/** The days that reach into a range, in order. */
export function daysWithin({ from, to }: Range, zone: string): Range[] {
  const days: Range[] = []
  for (let day = dayAt(from, zone); day.from < to; day = dayAt(day.to, zone)) days.push(day)
  return days
}
