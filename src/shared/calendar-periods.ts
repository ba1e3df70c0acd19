/** Days, weeks, months, quarters and years in a time zone, by the moments in them. Pure. */
import { WEEKDAYS, type Weekday } from '../database/schema/values.ts'
import { dateAt, type Span, startOfDate } from '../lib/calendar.ts'

/** What decides where days and weeks begin. */
export interface Calendar {
  timeZone: string
  weekStart: Weekday
}

const LENGTHS = {
  day: { days: 1 },
  week: { weeks: 1 },
  month: { months: 1 },
  quarter: { months: 3 },
  year: { months: 12 },
} as const

export type CalendarPeriod = keyof typeof LENGTHS

/** A period, with its first day. */
export interface DatedSpan extends Span {
  firstDay: string
}

export function calendarPeriodAt(moment: number, period: CalendarPeriod, calendar: Calendar): DatedSpan {
  const { timeZone } = calendar
  const first = firstDateOf(dateAt(moment, timeZone), period, calendar)
  return {
    firstDay: first.toString(),
    startingAt: startOfDate(first, timeZone),
    endingAt: startOfDate(first.add(LENGTHS[period]), timeZone),
  }
}

function firstDateOf(date: Temporal.PlainDate, period: CalendarPeriod, { weekStart }: Calendar): Temporal.PlainDate {
  switch (period) {
    case 'day':
      return date
    case 'week':
      return date.subtract({ days: (date.dayOfWeek - 1 - WEEKDAYS.indexOf(weekStart) + 7) % 7 })
    case 'month':
      return date.with({ day: 1 })
    case 'quarter':
      return date.with({ month: date.month - ((date.month - 1) % 3), day: 1 })
    case 'year':
      return date.with({ month: 1, day: 1 })
  }
}
