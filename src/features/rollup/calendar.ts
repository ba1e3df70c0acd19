/** Local days and months as ranges of moments. Pure. */
import { dateAt, startOfDate } from '../../lib/calendar.ts'
import type { Range } from './plan.ts'

export function dayAt(moment: number, zone: string): Range {
  const date = dateAt(moment, zone)
  return { from: startOfDate(date, zone), to: startOfDate(date.add({ days: 1 }), zone) }
}

export function monthAt(moment: number, zone: string): Range {
  const first = dateAt(moment, zone).with({ day: 1 })
  return { from: startOfDate(first, zone), to: startOfDate(first.add({ months: 1 }), zone) }
}

/** The days that overlap with a range, in order. */
export function daysWithin({ from, to }: Range, zone: string): Range[] {
  const days: Range[] = []
  for (let day = dayAt(from, zone); day.from < to; day = dayAt(day.to, zone)) days.push(day)
  return days
}
