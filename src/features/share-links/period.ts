/** Periods that move with the calendar, such as the last month. Pure. */
import { addDays, dayAt } from '../../lib/calendar.ts'
import { EARLIER } from '../../shared/days.ts'
import type { Comparison } from '../../shared/report-table.ts'
import type { ShownReport } from './report.ts'

export const MOVING_PERIODS = [
  '7d',
  '30d',
  '90d',
  '12m',
  'month',
  'last_month',
  'quarter',
  'last_quarter',
  'year',
  'last_year',
] as const
export type MovingPeriod = (typeof MOVING_PERIODS)[number]

/** Its days at the moment, as parameters of a report: the end is not included. */
export function movingBounds(period: MovingPeriod, today: string): { starting_at: string; ending_at: string } {
  const tomorrow = addDays(today, 1)
  const date = Temporal.PlainDate.from(today)
  const month = date.with({ day: 1 })
  const quarter = month.subtract({ months: (month.month - 1) % 3 })
  const year = month.with({ month: 1 })
  const between = (from: Temporal.PlainDate, to: Temporal.PlainDate | string) => ({
    starting_at: from.toString(),
    ending_at: to.toString(),
  })
  switch (period) {
    case '7d':
    case '30d':
    case '90d':
      return { starting_at: addDays(tomorrow, -Number.parseInt(period, 10)), ending_at: tomorrow }
    case '12m':
      return between(date.subtract({ months: 11 }).with({ day: 1 }), tomorrow)
    case 'month':
      return between(month, tomorrow)
    case 'last_month':
      return between(month.subtract({ months: 1 }), month)
    case 'quarter':
      return between(quarter, tomorrow)
    case 'last_quarter':
      return between(quarter.subtract({ months: 3 }), quarter)
    case 'year':
      return between(year, tomorrow)
    case 'last_year':
      return between(year.subtract({ years: 1 }), year)
  }
}

/** The days that a report is compared with, as parameters of a report; undefined if it is not. */
export function earlierBounds(
  compare: Comparison,
  { starting_at, ending_at, time_zone }: Pick<ShownReport, 'starting_at' | 'ending_at' | 'time_zone'>,
  period: string | undefined,
): { starting_at: string; ending_at: string } | undefined {
  const [from, to] = [dayAt(Date.parse(starting_at), time_zone), dayAt(Date.parse(ending_at) - 1, time_zone)]
  const earlier = EARLIER[compare]({ from, to }, period)
  return earlier && { starting_at: earlier.from, ending_at: addDays(earlier.to, 1) }
}
