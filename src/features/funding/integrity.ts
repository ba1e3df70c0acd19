/** Checks that the shares of plans are those of their entries and terms. */
import type { Reader } from '../../database/database.ts'
import { columnsOf } from './allocation-job.ts'
import { calculatePeriods } from './allocation-task.ts'
import { isRangeMarked, listPeriodRecords } from './store/allocation.ts'

/** Periods that are calculated together: those of one time, so that their entries are read once. */
const PORTION = 100

/** One finding per period that is not as its entries are; those that are still to be calculated are left out. */
export async function findInconsistentShares(reader: Reader): Promise<string[]> {
  const records = (await listPeriodRecords(reader))
    .filter(({ changes }) => changes === 0)
    .sort((one, other) => (one.firstDay < other.firstDay ? -1 : 1))
  const { plans } = reader.tables
  const names = new Map(
    (await reader.select({ id: plans.id, name: plans.name }).from(plans)).map((p) => [p.id, p.name]),
  )
  const findings: string[] = []
  for (let at = 0; at < records.length; at += PORTION) {
    for (const found of await calculatePeriods(reader, records.slice(at, at + PORTION))) {
      const { planId, firstDay } = found.record
      const period = `the period from ${firstDay} of plan ${names.get(planId)}`
      if (found.shares === undefined) {
        findings.push(`Shares of ${period} exist, but its terms do not have that period. ${RESTORE}`)
        continue
      }
      if (await isRangeMarked(reader, found)) continue
      const columns = Object.entries(columnsOf(found)) as [keyof typeof found.record, unknown][]
      const differing = columns.filter(([name, value]) => found.record[name] !== value).map(([name]) => name)
      if (found.shares !== null) differing.push('generationId')
      if (differing.length > 0) {
        findings.push(`The shares of ${period} are not those of its entries (${differing.join(', ')}). ${RESTORE}`)
      } else if (found.record.closedAt !== null && found.differences.length === 0 && found.pending !== 0n) {
        findings.push(`The shares and corrections of ${period} do not sum to its fee. ${RESTORE}`)
      }
    }
  }
  return findings
}

const RESTORE = 'This should never happen. Restore an earlier backup, or keep a copy of the database and report a bug.'
