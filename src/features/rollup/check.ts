/**
 * Checks that the roll-up matches the entries. Days are built from their entries again, months from their days. A
 * period that changes meanwhile is skipped: reports do not use it either.
 */

import type { Database } from '../../database/database.ts'
import { counted } from '../../lib/counted.ts'
import { dayAt } from './calendar.ts'
import type { Range } from './plan.ts'
import { findNextStart, holds, listCleanPeriods, listZones, readState } from './store/periods.ts'
import { CHECK_TASK } from './tasks.ts'

/** Differences listed per period: the first ones show the problem, and a completely wrong roll-up has millions. */
const NAMED_PER_PERIOD = 3

export interface CheckOptions {
  db: Database
  /** Called with the number of checked periods, and the total. */
  onProgress?: ((done: number, total: number) => void) | undefined
}

/** One sentence per difference; none if the roll-up is correct. */
export async function checkRollup({ db, onProgress }: CheckOptions): Promise<string[]> {
  const differences: string[] = []
  for (const { zone, ready } of await listZones(db.read)) {
    if (!ready) continue
    const periods = await listCleanPeriods(db.read, zone)
    for (const [done, period] of periods.entries()) {
      onProgress?.(done, periods.length)
      const found = await db.slowly(CHECK_TASK, { period, zone })
      // Checked afterwards: changes during the calculation have left a mark.
      if (found.length === 0 || !(await holds(db.read, period))) continue
      const name = `The ${period.level} starting at ${new Date(period.startsAt).toISOString()} (${zone})`
      differences.push(...found.slice(0, NAMED_PER_PERIOD).map((difference) => `${name} ${difference}.`))
      if (found.length > NAMED_PER_PERIOD)
        differences.push(`${name} has ${counted(found.length - NAMED_PER_PERIOD, 'more difference')}.`)
    }
    differences.push(...(await findForgottenDays(db, zone)))
  }
  return differences
}

/** Days with entries but without a row or a mark, which reports treat as empty. */
async function findForgottenDays(db: Database, zone: string): Promise<string[]> {
  const forgotten: string[] = []
  for (let from = Number.MIN_SAFE_INTEGER; ; ) {
    const start = await findNextStart(db.read, from)
    if (start === undefined) return forgotten
    const day: Range = dayAt(start, zone)
    const { periods, staleHours } = await readState(db.read, zone, day)
    const isKnown = staleHours.length > 0 || periods.some(({ level }) => level === 'day')
    if (!isKnown) forgotten.push(`The day starting at ${new Date(day.from).toISOString()} (${zone}) is missing.`)
    from = day.to
  }
}
