/** Which months can be built from days that have been. Pure. */
import { monthAt } from './calendar.ts'
import type { Period, Range } from './plan.ts'
import type { NewPeriod } from './store/periods.ts'

/**
 * Months without a row whose days are all clean; of the current month, the days before today.
 *
 * @param periods of the time zone, by start
 */
export function missingMonths(zone: string, periods: readonly Period[], today: number): NewPeriod[] {
  const days = periods.filter(({ level }) => level === 'day')
  const stale = days.filter(({ state }) => state === 'stale')
  const builtUntil = new Map<number, number>()
  for (const { level, startsAt, endsAt } of periods) if (level === 'month') builtUntil.set(startsAt, endsAt)
  const missing: NewPeriod[] = []
  for (let at = 0; at < days.length; ) {
    const month: Range = monthAt(days[at]!.startsAt, zone)
    const to = month.from < today && today < month.to ? today : month.to
    const isWhole = !stale.some((day) => day.startsAt < to && day.endsAt > month.from)
    if (isWhole && (builtUntil.get(month.from) ?? month.from) < to) {
      missing.push({ zone, level: 'month', from: month.from, to })
    }
    while (at < days.length && days[at]!.startsAt < month.to) at += 1
  }
  return missing
}
