/** A period of days in the organization's time zone, both inclusive. */
import { type Period, periodBefore } from '../../shared/days.ts'
import {
  addDays,
  addMonths,
  dayInWords,
  dayOf,
  firstOfMonth,
  firstOfQuarter,
  monthInWords,
  quarterInWords,
} from '../format/moments.ts'

export { type Period, periodBefore }

interface Named {
  title: string
  of: (today: string) => Period
}

/** Named periods in the URL; custom days are `2026-11-01..2026-11-15`. */
export const PERIODS = {
  '7d': { title: 'Last 7 days', of: (today: string) => ({ from: addDays(today, -6), to: today }) },
  '30d': { title: 'Last 30 days', of: (today: string) => ({ from: addDays(today, -29), to: today }) },
  '90d': { title: 'Last 90 days', of: (today: string) => ({ from: addDays(today, -89), to: today }) },
  month: { title: 'This month', of: (today: string) => ({ from: firstOfMonth(today), to: today }) },
  'last-month': {
    title: 'Last month',
    of: (today: string) => ({ from: addMonths(today, -1), to: addDays(firstOfMonth(today), -1) }),
  },
  quarter: { title: 'This quarter', of: (today: string) => ({ from: firstOfQuarter(today), to: today }) },
  'last-quarter': {
    title: 'Last quarter',
    of: (today: string) => ({ from: addMonths(firstOfQuarter(today), -3), to: addDays(firstOfQuarter(today), -1) }),
  },
  year: { title: 'This year', of: (today: string) => ({ from: `${today.slice(0, 4)}-01-01`, to: today }) },
  'last-year': {
    title: 'Last year',
    of: (today: string) => ({ from: `${lastYear(today)}-01-01`, to: `${lastYear(today)}-12-31` }),
  },
  '12m': { title: 'Last 12 months', of: (today: string) => ({ from: addMonths(today, -11), to: today }) },
} satisfies Record<string, Named>

const lastYear = (today: string): string => addMonths(today, -12).slice(0, 4)

const OWN = /^(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})$/

const isDay = (text: string): boolean => {
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}

/** Two days in order, of those that exist. */
function readOwn(name: string): Period | undefined {
  const [, from, to] = OWN.exec(name) ?? []
  return from && to && from <= to && isDay(from) && isDay(to) ? { from, to } : undefined
}

/** Whether the URL names a period that exists. */
export const isPeriod = (name: string): boolean => Object.hasOwn(PERIODS, name) || readOwn(name) !== undefined

/** The period named in the URL; the last 30 days by default. */
export function readPeriod(name: string | undefined, timeZone: string, now = new Date()): Period {
  const own = name === undefined ? undefined : readOwn(name)
  const known = Object.hasOwn(PERIODS, name ?? '') ? (name as keyof typeof PERIODS) : '30d'
  return own ?? PERIODS[known].of(dayOf(now, timeZone))
}

/** A day before any entry can exist. */
export const FIRST_DAY = '2000-01-01'

/** Everything before a day. */
export const before = (day: string): Period => ({ from: FIRST_DAY, to: addDays(day, -1) })

export const ownPeriod = ({ from, to }: Period): string => `${from}..${to}`

export function periodInWords({ from, to }: Period): string {
  if (from === to) return dayInWords(from)
  if (from === firstOfMonth(from) && addMonths(from, 1) === addDays(to, 1)) return monthInWords(from)
  if (from === firstOfQuarter(from) && addMonths(from, 3) === addDays(to, 1)) return quarterInWords(from)
  if (from.endsWith('-01-01') && to === `${from.slice(0, 4)}-12-31`) return from.slice(0, 4)
  return `${dayInWords(from)} – ${dayInWords(to)}`
}

/** The period as API parameters: the start is inclusive, the end exclusive. */
export const asBounds = ({ from, to }: Period) => ({ starting_at: from, ending_at: addDays(to, 1) })
