/** The periods of plans that keep a bill from being final: their shares may still change. Pure. */
import type { ScopedEntry } from './store/billable.ts'
import type { OpenPeriod } from './store/plan-facts.ts'

export interface NotClosed extends OpenPeriod {
  entries: number
}

/** Those of the entries, by plan and day. */
export function notClosedIn(billed: readonly Pick<ScopedEntry, 'openPeriod'>[]): NotClosed[] {
  const counts = new Map<OpenPeriod, number>()
  for (const { openPeriod } of billed) if (openPeriod) counts.set(openPeriod, (counts.get(openPeriod) ?? 0) + 1)
  return [...counts]
    .map(([period, entries]) => ({ ...period, entries }))
    .sort((one, other) =>
      `${one.plan.name} ${one.firstDay}`.localeCompare(`${other.plan.name} ${other.firstDay}`, 'en'),
    )
}
