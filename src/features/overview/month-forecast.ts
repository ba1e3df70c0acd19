/** The cost of the current month by its end, calculated as the forecasts of budgets are. Pure. */
import { addDays, dayAt, daysOfMonth, type Span, spanOf, startOfDay } from '../../lib/calendar.ts'
import { timestamp } from '../../lib/duration.ts'
import { forecast, hourAt, PAST_DAYS, restOf, weekdayOf } from '../../shared/forecast.ts'
import type { UsageReport } from '../reports/schema.ts'
import type { MonthForecast } from './schema.ts'

/** The days whose cost a forecast needs, until its hour; at least a moment. */
export function forecastSpan(now: number, timeZone: string): Span {
  const today = dayAt(hourAt(now), timeZone)
  const [from] = [addDays(today, -PAST_DAYS), `${today.slice(0, 7)}-01`].sort()
  return { startingAt: startOfDay(from!, timeZone), endingAt: hourAt(now) }
}

/** Amounts are whole numbers of these, in which they add up without rounding errors. */
const NANOS = 1e9

/** From the days of {@link forecastSpan}; null if there is too little data. Unknown cost counts as none, as in budgets. */
export function monthForecast(byDay: Pick<UsageReport, 'data'>, timeZone: string, now: number): MonthForecast | null {
  const hour = hourAt(now)
  const today = dayAt(hour, timeZone)
  const month = today.slice(0, 7)
  const days = byDay.data.map(({ starting_at, results }) => ({
    day: dayAt(Date.parse(starting_at), timeZone),
    nanos: Math.round((results[0]?.cost ?? 0) * NANOS),
  }))
  const spent = days.filter(({ day }) => day >= month).reduce((sum, { nanos }) => sum + nanos, 0) / NANOS
  const past = days
    .filter(({ day }) => day < today)
    .map(({ day, nanos }) => ({ weekday: weekdayOf(day), spent: nanos / NANOS }))
  const { endingAt: endsAt } = spanOf(daysOfMonth(month)!, timeZone)
  const rest = restOf({ today, now: hour, endsAt }, timeZone)
  const predicted = forecast({ past, spent, available: Number.POSITIVE_INFINITY, rest })
  if (!predicted) return null
  const { amount, low, high } = predicted
  return { month, at: timestamp(hour), spent, amount, low, high }
}
