/** The period of a sheet. Pure. */
import { type Issue, validationFailed } from '../../errors.ts'
import { addDays, daysOfMonth, isDay, type Span, spanOf } from '../../lib/calendar.ts'
import { timestamp } from '../../lib/duration.ts'
import { issuesOfConditions } from '../../schema/conditions.ts'
import { type NewSheetBody, NewTokenSheet } from './schema.ts'

/** Days, both included, and their start and end in the organization's time zone; `endingAt` is exclusive. */
export interface Period extends Span {
  firstDay: string
  lastDay: string
}

/** A sheet of more than a year is a mistake in its dates. */
const DAYS_LIMIT = 366

/** Throws 422 for days that do not exist, are in the wrong order or are too far apart. */
export function readPeriod(given: Pick<NewSheetBody, 'period' | 'month'>, timeZone: string): Period {
  const unmet = issuesOfConditions(NewTokenSheet, given)
  if (unmet.length > 0) throw validationFailed(unmet)
  const { period, month } = given
  const days = period ?? daysOfMonth(month!) ?? { from: month!, to: month! }
  const issues: Issue[] = []
  const refuse = (pointer: string, code: string, message: string) => issues.push({ pointer, code, message })
  const [from, to] = period ? ['/period/from', '/period/to'] : ['/month', '/month']
  const [hasFirst, hasLast] = [isDay(days.from), isDay(days.to)]
  const invalid = period ? 'is not a valid date' : 'must be a month, such as 2026-11'
  if (!hasFirst) refuse(from, 'no_such_time', invalid)
  if (!hasLast && (period || hasFirst)) refuse(to, 'no_such_time', invalid)
  if (hasFirst && hasLast && days.to < days.from) refuse(to, 'ends_before_start', 'must not be earlier than from')
  if (hasFirst && hasLast && addDays(days.from, DAYS_LIMIT) <= days.to) {
    refuse(to, 'too_large', `must be within ${DAYS_LIMIT} days of from`)
  }
  if (issues.length > 0) throw validationFailed(issues)
  return { firstDay: days.from, lastDay: days.to, ...spanOf(days, timeZone) }
}

/** The issue of an entry that starts at this moment; undefined if it is within the period. */
export function issueOfStart(
  startedAt: number,
  { firstDay, lastDay, startingAt, endingAt }: Period,
): Issue | undefined {
  if (startedAt >= startingAt && startedAt < endingAt) return undefined
  return {
    pointer: '/started_at',
    code: 'outside_period',
    message: `must be within the sheet's period, ${firstDay} to ${lastDay} (${timestamp(startingAt)} to ${timestamp(endingAt)})`,
  }
}
