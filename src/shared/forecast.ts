/**
 * What will be spent at the end of a period: what is spent so far, and for each remaining day the average of its weekday
 * over the last four weeks. Its uncertainty is that of the sum of independent days: the variance of the past days around
 * the averages of their weekdays, times the number of remaining days; 1.28 standard deviations contain four of five cases.
 * Pure: of budgets, and of the month in the overview.
 */
import { addDays, startOfDay } from '../lib/calendar.ts'

const HOUR_MS = 3_600_000

/** The hour that a forecast is made for: one that changes while it is read is not trusted. */
export const hourAt = (now: number): number => now - (now % HOUR_MS)

/** Whole days that a forecast is based on. */
export const PAST_DAYS = 28

/** A forecast for longer than this says nothing. */
const REST_DAYS = 400

export interface ForecastInput {
  /** Of past whole days, the oldest first; at most the last 28 count. */
  past: readonly { weekday: number; spent: number }[]
  spent: number
  available: number
  /** The rest of the period, today first; `share` is the part of a day that is left of it. */
  rest: readonly RestDay[]
}

interface RestDay {
  day: string
  weekday: number
  share: number
}

export interface Forecast {
  amount: number
  low: number
  high: number
  exceededOn: string | null
  days: number
}

/** The 10th and 90th percentile of a normal distribution. */
const FOUR_OF_FIVE = 1.2816

/** With less, an average means nothing. */
const MIN_DAYS_WITH_USAGE = 3

export function forecast({ past, spent, available, rest }: ForecastInput): Forecast | null {
  const days = past.slice(-PAST_DAYS)
  if (days.filter((day) => day.spent > 0).length < MIN_DAYS_WITH_USAGE) return null
  const overall = mean(days.map((day) => day.spent))
  const byWeekday = Map.groupBy(days, ({ weekday }) => weekday)
  const averageOf = (weekday: number) => {
    const same = byWeekday.get(weekday)
    // A single day of its weekday says less than all days.
    return same && same.length > 1 ? mean(same.map((day) => day.spent)) : overall
  }
  const variance = mean(days.map((day) => (day.spent - averageOf(day.weekday)) ** 2))
  let amount = spent
  let left = 0
  let exceededOn: string | null = null
  for (const { day, weekday, share } of rest) {
    amount += averageOf(weekday) * share
    left += share
    if (exceededOn === null && amount > available) exceededOn = day
  }
  const spread = FOUR_OF_FIVE * Math.sqrt(variance * left)
  return {
    amount,
    low: Math.max(spent, amount - spread),
    high: amount + spread,
    exceededOn: spent > available ? null : exceededOn,
    days: days.length,
  }
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length)
}

/** 0 for Sunday. */
export const weekdayOf = (day: string): number => new Date(`${day}T00:00:00Z`).getUTCDay()

/** What is left of a period, from today on; none of one without a near end, which has no forecast. */
export function restOf(
  { today, now, endsAt }: { today: string; now: number; endsAt: number },
  timeZone: string,
): RestDay[] {
  const rest: RestDay[] = []
  for (let day = today; rest.length <= REST_DAYS; day = addDays(day, 1)) {
    const [start, end] = [startOfDay(day, timeZone), startOfDay(addDays(day, 1), timeZone)]
    if (start >= endsAt) return rest
    rest.push({ day, weekday: weekdayOf(day), share: (end - Math.max(start, now)) / (end - start) })
  }
  return []
}
