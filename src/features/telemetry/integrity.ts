/** Whether what telemetry keeps of sessions has become entries. */
import type { Reader } from '../../database/database.ts'
import { firstNamed } from '../../lib/first-named.ts'
import { listSessionsWithoutTotals, listTotalsWithoutEntries } from './store/integrity.ts'

/** A sentence for everything that should not be. */
export async function findInconsistentTelemetry(reader: Reader): Promise<string[]> {
  return [
    ...(await firstNamed(
      (limit) => listTotalsWithoutEntries(reader, limit),
      ({ session, source, model }) =>
        `The session ${session} has no entry for ${model}, of which telemetry (${source}) has brought totals. Restore a backup, or report the session's totals.`,
    )),
    ...(await firstNamed(
      (limit) => listSessionsWithoutTotals(reader, limit),
      ({ session }) =>
        `Telemetry remembers what it counted of the session ${session}, but not what it came to. Restore a backup, or report the session's totals.`,
    )),
  ]
}
