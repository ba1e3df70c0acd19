/** What was spent by day: for burn-downs and forecasts. */
import type { SlowTask } from '../../database/database.ts'
import { addDays, dayAt, startOfDay } from '../../lib/calendar.ts'
import { hourAt, PAST_DAYS, restOf, weekdayOf } from '../../shared/forecast.ts'
import type { PeriodRecord } from '../spending/contract.ts'
import { readTerms } from '../spending/service.ts'
import { type CountArgs, countedFilter, sumEntries } from './counting.ts'
import { findBudget } from './store.ts'

export interface DaysArgs extends Omit<CountArgs, 'periodId'> {
  budgetId: number
  period: Pick<PeriodRecord, 'startsAt' | 'endsAt'>
  /** Of the days of the period, the latest. */
  limit: number
}

export interface DaySums {
  /** Of the period up to now: what was spent by the end of each, in units. */
  days: { day: string; spent: bigint }[]
  /** Whole days of the last four weeks. */
  past: { weekday: number; spent: number }[]
  /** What was spent since the last full hour, in units: forecasts are made for that hour. */
  sinceHour: bigint
  /** The rest of the period from that hour on. */
  rest: ReturnType<typeof restOf>
}

export const DAYS_TASK: SlowTask<DaysArgs, DaySums> = {
  name: 'budgets.days',
  async run(reader, { budgetId, period, now, limit, ...circumstances }) {
    const { timeZone } = circumstances
    const budget = await findBudget(reader, budgetId)
    const filter = budget && (await countedFilter(reader, budget))
    const today = dayAt(now, timeZone)
    const lastDay = dayAt(Math.min(now, period.endsAt - 1), timeZone)
    const earliest = addDays(lastDay, 1 - limit)
    const firstDay = period.startsAt < startOfDay(earliest, timeZone) ? earliest : dayAt(period.startsAt, timeZone)
    const pastFrom = addDays(today, -PAST_DAYS)
    if (!budget || !filter || lastDay < firstDay) return { days: [], past: [], sinceHour: 0n, rest: [] }
    const terms = await readTerms(reader, [{ ...budget, periods: [] }], circumstances)
    const sumsBetween = async (bounds: readonly number[]): Promise<bigint[]> =>
      (await sumEntries(reader, { budget, filter, terms, bounds })).map(({ inMillionths }) => inMillionths)
    const sumsOf = (of: readonly string[]): Promise<bigint[]> =>
      sumsBetween([...of, addDays(of.at(-1)!, 1)].map((day) => startOfDay(day, timeZone)))
    const days = daysBetween(firstDay, lastDay)
    let total = 0n
    const spent = (await sumsOf(days)).map((sum) => {
      total += sum
      return total / 1_000_000n
    })
    const pastDays = daysBetween(pastFrom, addDays(today, -1))
    const pastSums = await sumsOf(pastDays)
    const hour = hourAt(now)
    const [since] = hour < period.endsAt ? await sumsBetween([Math.max(hour, period.startsAt), period.endsAt]) : [0n]
    return {
      days: days.map((day, at) => ({ day, spent: spent[at]! })),
      past: pastDays.map((day, at) => ({ weekday: weekdayOf(day), spent: Number(pastSums[at]! / 1_000_000n) })),
      sinceHour: since! / 1_000_000n,
      rest: restOf({ today, now: hour, endsAt: period.endsAt }, timeZone),
    }
  },
}

function daysBetween(first: string, last: string): string[] {
  const days: string[] = []
  for (let day = first; day <= last; day = addDays(day, 1)) days.push(day)
  return days
}
