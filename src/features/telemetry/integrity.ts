/** Checks that telemetry's totals of sessions have entries. */
import type { Reader } from '../../database/database.ts'
import { firstNamed } from '../../lib/first-named.ts'
import { listSessionsWithoutTotals, listTotalsWithoutEntries } from './store/integrity.ts'

/** One finding for each inconsistency. */
export async function findInconsistentTelemetry(reader: Reader): Promise<string[]> {
  return [
    ...(await firstNamed(
      (limit) => listTotalsWithoutEntries(reader, limit),
      ({ session, source, model }) =>
        `Session ${session} has no entry for ${model}, although telemetry (${source}) reported totals for it. Restore a backup, or report the session's totals.`,
    )),
    ...(await firstNamed(
      (limit) => listSessionsWithoutTotals(reader, limit),
      ({ session }) =>
        `Telemetry has a record of what was counted for session ${session}, but no totals. Restore a backup, or report the session's totals.`,
    )),
  ]
}
