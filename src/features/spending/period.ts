/** The periods of a budget. Pure. */
import { addDays, startOfDay } from '../../lib/calendar.ts'
import { type Calendar, calendarPeriodAt, type DatedSpan, neighboringPeriod } from '../../lib/calendar-periods.ts'
import type { BudgetRecord } from './matching.ts'

type Periodic = Pick<BudgetRecord, 'period' | 'firstDay' | 'lastDay'>

/** What a budget without a first day begins with, and where one without a last day ends. */
const FIRST_DAY = '0001-01-01'
const FIRST_AT = new Date('0001-01-01T00:00:00Z').getTime()
const LAST_AT = new Date('9999-12-31T00:00:00Z').getTime()

/** The period that contains a moment; undefined if the budget does not apply then. Its first and last may be cut. */
export function periodAt(
  moment: number,
  { period, firstDay, lastDay }: Periodic,
  calendar: Calendar,
): DatedSpan | undefined {
  const { timeZone } = calendar
  const from = firstDay === null ? FIRST_AT : startOfDay(firstDay, timeZone)
  const to = lastDay === null ? LAST_AT : startOfDay(addDays(lastDay, 1), timeZone)
  if (moment < from || moment >= to) return undefined
  if (period === 'once') return { firstDay: firstDay ?? FIRST_DAY, startingAt: from, endingAt: to }
  return within(calendarPeriodAt(moment, period, calendar), { from, to, firstDay })
}

/** The period before or after; undefined if the budget has none. */
export function neighborOf(
  { firstDay: of }: Pick<DatedSpan, 'firstDay'>,
  by: -1 | 1,
  budget: Periodic,
  calendar: Calendar,
): DatedSpan | undefined {
  if (budget.period === 'once') return undefined
  const whole = calendarPeriodAt(startOfDay(of, calendar.timeZone), budget.period, calendar)
  const neighbor = neighboringPeriod(whole.firstDay, by, budget.period, calendar)
  return periodAt(by === 1 ? neighbor.startingAt : neighbor.endingAt - 1, budget, calendar)
}

function within(
  span: DatedSpan,
  { from, to, firstDay }: { from: number; to: number; firstDay: string | null },
): DatedSpan {
  const isCut = from > span.startingAt
  return {
    firstDay: isCut ? firstDay! : span.firstDay,
    startingAt: isCut ? from : span.startingAt,
    endingAt: Math.min(span.endingAt, to),
  }
}
