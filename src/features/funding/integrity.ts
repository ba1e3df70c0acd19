/** Checks that the shares of plans are those of their entries and terms. */
import type { Reader } from '../../database/database.ts'
import { dayAt } from '../../lib/calendar.ts'
import { counted } from '../../lib/counted.ts'
import { columnsOf } from './allocation-job.ts'
import { calculatePeriods, rangeOf } from './allocation-task.ts'
import { periodAt } from './periods.ts'
import {
  areCorrectionsMarked,
  findTimeZone,
  HOUR_MS,
  isRangeMarked,
  keyOfPeriod,
  listPaidHours,
  listPeriodRecords,
  listUnpaidCorrections,
  type PeriodKey,
  type PeriodRecord,
} from './store/allocation.ts'
import { listSchedules } from './store/schedules.ts'

/** Periods that are calculated together: those of one time, so that their entries are read once. */
const PORTION = 100

/** One finding per period that is not as its entries are; those that are still to be calculated are left out. */
export async function findInconsistentShares(reader: Reader): Promise<string[]> {
  const known = await listPeriodRecords(reader)
  const records = known
    .filter(({ changes }) => changes <= 0)
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
      if ((await isRangeMarked(reader, found)) || (await areCorrectionsMarked(reader, found))) continue
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
  for (const { planId, firstDay } of await findForgotten(reader, known)) {
    const period = `the period from ${firstDay} of plan ${names.get(planId)}`
    findings.push(`Entries of ${period} have no shares, and no calculation of it is due. ${RESTORE}`)
  }
  const unpaid = await listUnpaidCorrections(reader)
  if (unpaid.length > 0) {
    findings.push(
      `${counted(unpaid.length, 'correction')} of plans are not paid by the plan that they correct. ${RESTORE}`,
    )
  }
  return findings
}

/** Periods with entries, of which nothing is known; those with an hour that is still marked are left out. */
async function findForgotten(reader: Reader, known: readonly PeriodRecord[]): Promise<PeriodKey[]> {
  const timeZone = await findTimeZone(reader)
  const schedules = await listSchedules(reader)
  const seen = new Set(known.map(keyOfPeriod))
  const forgotten: PeriodKey[] = []
  let looked = { planId: -1, to: 0 }
  for (const { planId, hour } of await listPaidHours(reader)) {
    if (planId === looked.planId && (hour + 1) * HOUR_MS <= looked.to) continue
    // An hour may belong to two days.
    const periods = [hour * HOUR_MS, (hour + 1) * HOUR_MS - 1]
      .map((moment) => periodAt(schedules.get(planId)!, dayAt(moment, timeZone)))
      .filter((period) => period !== undefined)
      .map((period) => ({ ...period, planId }))
    if (periods.length > 0) looked = { planId, to: rangeOf(periods.at(-1)!, timeZone).to }
    if (periods.length === 0 || periods.some((period) => seen.has(keyOfPeriod(period)))) continue
    for (const period of periods) seen.add(keyOfPeriod(period))
    if (!(await isRangeMarked(reader, rangeOf(periods[0]!, timeZone)))) forgotten.push(periods[0]!)
  }
  return forgotten
}

const RESTORE = 'This should never happen. Restore an earlier backup, or keep a copy of the database and report a bug.'
