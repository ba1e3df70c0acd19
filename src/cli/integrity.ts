/** The checks of `tally verify`, which restored backups pass as well. */
import type { Services } from '../services.ts'

/** All entries are read several times, which takes minutes for ten million. Nothing else waits for it. */
export const CHECK_DEADLINE_MS = 86_400_000

/** A sentence for each difference; empty if there is none. `onProgress` receives the days whose totals were checked. */
export async function differencesIn(
  { findDamage, entries, funding, bills, telemetry, reports, budgets }: Services,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<string[]> {
  return [
    ...(await findDamage()),
    ...(await entries.verify()),
    ...(await funding.verify()),
    ...(await bills.verify()),
    ...(await telemetry.verify()),
    ...(await budgets.verify()),
    ...(await reports.verify(onProgress)),
  ]
}
