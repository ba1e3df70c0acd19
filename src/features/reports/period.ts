/** Named periods: the last 30 days, a month, from one day to another. Pure. */
import { type Issue, validationFailed } from '../../errors.ts'
import { addDays, type Days, dayAt, daysOfMonth, daysOfQuarter, daysOfYear } from '../../lib/calendar.ts'
import { parseDuration, timestamp } from '../../lib/duration.ts'
import type { QueryTexts } from '../../schema/query.ts'
import type { Circumstances } from './query.ts'

export interface NamedPeriod {
  /** `30d`, `12h`, `2w`. */
  last?: string | undefined
  /** `2026-11`. */
  month?: string | undefined
  /** `2026-Q4`. */
  quarter?: string | undefined
  /** `2026`. */
  year?: string | undefined
  /** A date or a timestamp. */
  from?: string | undefined
  to?: string | undefined
}

/** The default: about as long as people remember, up to today. */
const USUAL = '30d'

/** The periods of the calendar, and what their text must be. */
const CALENDAR: [name: 'month' | 'quarter' | 'year', daysOf: (text: string) => Days | undefined, expected: string][] = [
  ['month', daysOfMonth, 'must be a month, such as 2026-11'],
  ['quarter', daysOfQuarter, 'must be a quarter, such as 2026-Q4'],
  ['year', daysOfYear, 'must be a year, such as 2026'],
]

const DAY_MS = 86_400_000

/** A hundred years: there were no agents before, and calendars support only a limited number of digits. */
const LONGEST_MS = 36_525 * DAY_MS

function refused(name: keyof NamedPeriod, message: string) {
  const issue: Issue = { pointer: `/query/${name}`, code: 'bad_format', message }
  return validationFailed([issue])
}

/**
 * Converts a period to parameters of a report. Dates stay dates, which the report interprets in its time zone. Throws
 * `validation_failed` (422) for an invalid period, or more than one.
 */
export function periodTexts(
  period: NamedPeriod,
  { now, timeZone }: Pick<Circumstances, 'now' | 'timeZone'>,
): QueryTexts {
  const { last, from, to } = period
  const calendar = CALENDAR.filter(([name]) => period[name] !== undefined)
  if (calendar.length + [last, from ?? to].filter((text) => text !== undefined).length > 1) {
    throw refused(calendar[0]?.[0] ?? 'last', 'cannot be combined with another period')
  }
  for (const [name, daysOf, expected] of calendar) {
    const days = daysOf(period[name]!)
    if (!days) throw refused(name, expected)
    return { starting_at: days.from, ending_at: addDays(days.to, 1) }
  }
  if (from !== undefined) return { starting_at: from, ending_at: to }
  if (to !== undefined) throw refused('to', 'requires a start date: add --from')
  const duration = parseDuration(last ?? USUAL)
  if (!duration || duration > LONGEST_MS) throw refused('last', 'must be a duration, such as 30d, 12h or 2w')
  // Days are whole days up to and including today; hours end now.
  if (duration % DAY_MS > 0 || /h|min/.test(last ?? '')) {
    return { starting_at: timestamp(now - duration) }
  }
  return { starting_at: addDays(dayAt(now, timeZone), 1 - duration / DAY_MS) }
}
