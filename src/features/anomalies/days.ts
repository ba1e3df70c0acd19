/** The days that a day is compared with. Pure. */
import { addDays } from '../../lib/calendar.ts'
import type { Nanos } from '../../lib/money.ts'

/** Four weeks have each weekday equally often, and are short enough to follow how somebody works now. */
const PAST_DAYS = 28

/** Of fewer days with usage nobody can say what is usual: two weeks of work. */
const USED_DAYS = 10

/** Of the eight days of the weekend, on how many there is usage if it is compared with weekends alone. */
const USED_DAYS_OF_KIND = 5

/** The cost of each day with usage that has a price, by day. */
export type DayCosts = ReadonlyMap<string, Nanos>

/** The days before a day, the oldest first. */
export function pastDays(day: string): string[] {
  return Array.from({ length: PAST_DAYS }, (_, at) => addDays(day, at - PAST_DAYS))
}

/** Whether there was usage on enough days before a day. */
export function hasPast(day: string, costs: DayCosts): boolean {
  return usedDays(day, costs).length >= USED_DAYS
}

/**
 * What a day is compared with: the days with usage of the same kind, Monday to Friday or the weekend, or all of them if
 * those are few. Empty if {@link hasPast} is false. A day without usage says nothing of what one with usage costs.
 */
export function comparedCosts(day: string, costs: DayCosts): Nanos[] {
  if (!hasPast(day, costs)) return []
  const used = usedDays(day, costs)
  const ofKind = used.filter((past) => isWeekend(past) === isWeekend(day))
  return (ofKind.length >= USED_DAYS_OF_KIND ? ofKind : used).map((past) => costs.get(past)!)
}

function usedDays(day: string, costs: DayCosts): string[] {
  return pastDays(day).filter((past) => costs.has(past))
}

function isWeekend(day: string): boolean {
  return Temporal.PlainDate.from(day).dayOfWeek > 5
}
