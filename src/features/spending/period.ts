/** The periods of a budget. Pure. */

import { addDays, type Span, startOfDay } from '../../lib/calendar.ts'
import { type Calendar, calendarPeriodAt, type DatedSpan } from '../../shared/calendar-periods.ts'
import type { BudgetRecord } from './records.ts'

type Periodic = Pick<BudgetRecord, 'period' | 'firstDay' | 'lastDay'>

/** What a period without a first day begins with, and where one without a last day ends: as in migration 30. */
export const NO_FIRST_DAY = '0001-01-01'
const FIRST_AT = Date.parse('0001-01-01T00:00:00Z')
const NO_END_AT = Date.parse('+010000-01-01T00:00:00Z')

export function hasStart({ firstDay }: { firstDay: string }): boolean {
  return firstDay !== NO_FIRST_DAY
}

/** The first day of a period; null if it has none. */
export function firstDayOf(period: { firstDay: string }): string | null {
  return hasStart(period) ? period.firstDay : null
}

export function hasEnd({ endsAt }: { endsAt: number }): boolean {
  return endsAt < NO_END_AT
}

/** From when, and until when, entries count for a budget. */
export function windowOf(
  { firstDay, lastDay }: Pick<BudgetRecord, 'firstDay' | 'lastDay'>,
  { timeZone }: Pick<Calendar, 'timeZone'>,
): Span {
  return {
    startingAt: firstDay === null ? FIRST_AT : startOfDay(firstDay, timeZone),
    endingAt: lastDay === null ? NO_END_AT : startOfDay(addDays(lastDay, 1), timeZone),
  }
}

/** The period that contains a moment; undefined if the budget does not apply then. Its first and last may be cut. */
export function periodAt(moment: number, budget: Periodic, calendar: Calendar): DatedSpan | undefined {
  const { period, firstDay } = budget
  const window = windowOf(budget, calendar)
  if (!contains(window, moment)) return undefined
  if (period === 'once') return { firstDay: firstDay ?? NO_FIRST_DAY, ...window }
  return within(calendarPeriodAt(moment, period, calendar), { ...window, firstDay })
}

export function contains({ startingAt, endingAt }: Span, moment: number): boolean {
  return startingAt <= moment && moment < endingAt
}

/** The period after another one; undefined if the budget has none. */
export function nextPeriod(
  { endingAt }: Pick<DatedSpan, 'endingAt'>,
  budget: Periodic,
  calendar: Calendar,
): DatedSpan | undefined {
  return budget.period === 'once' ? undefined : periodAt(endingAt, budget, calendar)
}

/** More than these have not been without a server, unless a very old backup was restored. */
const MISSED_LIMIT = 400

/** The periods that follow the newest one, up to another, which is the last of them; only that one without a newest. */
export function periodsUpTo(
  last: DatedSpan,
  newest: { endsAt: number } | undefined,
  budget: Periodic,
  calendar: Calendar,
): DatedSpan[] {
  const missed: DatedSpan[] = []
  let span = newest && nextPeriod({ endingAt: newest.endsAt }, budget, calendar)
  while (span && span.endingAt <= last.startingAt && missed.length < MISSED_LIMIT) {
    missed.push(span)
    span = nextPeriod(span, budget, calendar)
  }
  return [...missed, last]
}

function within(span: DatedSpan, { startingAt, endingAt, firstDay }: Span & { firstDay: string | null }): DatedSpan {
  const isCut = startingAt > span.startingAt
  return {
    firstDay: isCut ? firstDay! : span.firstDay,
    startingAt: isCut ? startingAt : span.startingAt,
    endingAt: Math.min(span.endingAt, endingAt),
  }
}
