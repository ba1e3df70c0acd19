/** The cost of the current month by its end, calculated as the forecasts of budgets are. Pure. */
import { forecast } from '../../../shared/forecast.ts'
import { addDays, addMonths, dayOf, firstOfMonth, startOfDay } from '../../format/moments.ts'
import type { Period } from '../../parts/period.ts'
import type { Usage } from '../../parts/usage/usage.ts'

/** Whole days that a forecast is based on. */
const PAST_DAYS = 28

/** The current month up to today. */
const monthToDate = (today: string): Period => ({ from: firstOfMonth(today), to: today })

/** The days whose cost a forecast needs. */
export function forecastDays(today: string): Period {
  const [from] = [addDays(today, -PAST_DAYS), firstOfMonth(today)].sort()
  return { from: from!, to: today }
}

const HOUR_MS = 3_600_000

/** The hour that a forecast is made for: one that changes while it is read is not trusted. */
export const hourOf = (now = Date.now()): string => new Date(now - (now % HOUR_MS)).toISOString()

/** In US dollars. */
export interface MonthForecast {
  /** By the hour. */
  spent: number
  amount: number
  /** Four of five cases are between these. */
  low: number
  high: number
}

/** Amounts are whole numbers of these, in which they add up without rounding errors. */
const NANOS = 1e9

const weekdayOf = (day: string): number => new Date(`${day}T00:00:00Z`).getUTCDay()

/** From the days until an hour; null if there is too little data. Unknown cost counts as none, as in budgets. */
export function monthForecast(byDay: Pick<Usage, 'data'>, timeZone: string, hour: string): MonthForecast | null {
  const now = new Date(hour)
  const today = dayOf(now, timeZone)
  const { from } = monthToDate(today)
  const days = byDay.data.map(({ starting_at, results }) => ({
    day: dayOf(new Date(starting_at), timeZone),
    nanos: Math.round((results[0]?.cost ?? 0) * NANOS),
  }))
  const spent = days.filter(({ day }) => day >= from).reduce((sum, { nanos }) => sum + nanos, 0) / NANOS
  const past = days
    .filter(({ day }) => day < today)
    .map(({ day, nanos }) => ({ weekday: weekdayOf(day), spent: nanos / NANOS }))
  const predicted = forecast({ past, spent, available: Number.POSITIVE_INFINITY, rest: restOf(today, timeZone, now) })
  return predicted && { spent, amount: predicted.amount, low: predicted.low, high: predicted.high }
}

function restOf(today: string, timeZone: string, now: Date) {
  const rest: { day: string; weekday: number; share: number }[] = []
  for (let day = today; day < addMonths(today, 1); day = addDays(day, 1)) {
    const [start, end] = [day, addDays(day, 1)].map((each) => Date.parse(startOfDay(each, timeZone)))
    const share = (end! - Math.max(start!, now.getTime())) / (end! - start!)
    rest.push({ day, weekday: weekdayOf(day), share })
  }
  return rest
}
