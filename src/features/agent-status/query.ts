/** Parameters of the report of limits. Pure. */
import { addDays, isDay } from '../../lib/calendar.ts'
import { Query, type QueryTexts } from '../../schema/query.ts'

/** As long as readings are kept. */
const DAYS_LIMIT = 400
const USUAL_DAYS = 30

export interface LimitsQuery {
  days: { from: string; to: string }
  users: string[] | undefined
  harnesses: string[] | undefined
}

/** @param today in the organization's time zone */
export function readLimitsQuery(texts: QueryTexts, today: string): LimitsQuery {
  const query = new Query(texts)
  const day = (name: string) => {
    const text = query.text(name)
    if (text === undefined || isDay(text)) return text
    return query.refuse(name, 'bad_format', 'must be a date, such as 2026-11-30')
  }
  const to = day('to') ?? today
  const from = day('from') ?? addDays(to, 1 - USUAL_DAYS)
  if (from > to) query.refuse('from', 'not_allowed', 'must not be after the last day')
  if (from <= addDays(to, -DAYS_LIMIT))
    query.refuse('from', 'too_early', `must be at most ${DAYS_LIMIT} days before the last day`)
  const users = query.list('user')
  const harnesses = query.list('agent_harness')
  query.finish()
  return { days: { from, to }, users, harnesses }
}
