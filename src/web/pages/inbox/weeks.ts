/** Token sheets by the week in which their periods end. Pure. */
import { addDays } from '../../format/moments.ts'
import type { Period } from '../../parts/period.ts'

const DAYS = 7

/** The week of a day; `firstDayOfWeek` is 0 for Sunday. */
export function weekOf(day: string, firstDayOfWeek: number): Period {
  const from = addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() - firstDayOfWeek + DAYS) % DAYS))
  return { from, to: addDays(from, DAYS - 1) }
}

/** The weeks that have sheets, latest first, by their first days. */
export function byWeek<Sheet extends { period: Period }>(
  sheets: readonly Sheet[],
  firstDayOfWeek: number,
): Map<string, Sheet[]> {
  const weeks = Map.groupBy(sheets, ({ period }) => weekOf(period.to, firstDayOfWeek).from)
  return new Map([...weeks].sort(([one], [other]) => other.localeCompare(one)))
}

/** The week before that of today, or else the latest one that is over, or any. */
export function weekToApprove(weeks: ReadonlyMap<string, unknown>, today: string, firstDayOfWeek: number): string {
  const past = addDays(weekOf(today, firstDayOfWeek).from, -DAYS)
  const firsts = [...weeks.keys()]
  return firsts.find((from) => from <= past) ?? firsts[0]!
}
