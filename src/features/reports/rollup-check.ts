/**
 * Checks that the roll-up matches the entries. Days are summed from their entries again, months from their days. A
 * period that changes meanwhile is skipped: reports do not use it either.
 */
import type { Database } from '../../database/database.ts'
import { dayAt } from './rollup-calendar.ts'
import { GRAINS, ROLLED_COLUMNS, STRADDLING_GRAIN } from './rollup-grain.ts'
import type { Period, Range } from './rollup-plan.ts'
import {
  compareDay,
  compareMonth,
  findNextStart,
  holds,
  listCleanPeriods,
  listZones,
  type Mismatch,
  type RollupSums,
  readState,
} from './store/rollup.ts'

/** Differences listed per period: the first ones show the problem, and a completely wrong roll-up has millions. */
const NAMED_PER_PERIOD = 3

/** Differing rows read per day, or per grain of a month: enough for an approximate count. */
const ROWS_PER_COMPARISON = 1_000

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
      const found = await checkPeriod(db, period, periods)
      // Checked afterwards: changes during the calculation have left a mark.
      if (found.length === 0 || !(await holds(db.read, period))) continue
      const name = `The ${period.level} starting at ${new Date(period.startsAt).toISOString()} (${zone})`
      differences.push(...found.slice(0, NAMED_PER_PERIOD).map((difference) => `${name} ${difference}.`))
      if (found.length > NAMED_PER_PERIOD)
        differences.push(`${name} has ${found.length - NAMED_PER_PERIOD} more differences.`)
    }
    differences.push(...(await findForgottenDays(db, zone)))
  }
  return differences
}

async function checkPeriod(db: Database, period: Period, periods: Period[]): Promise<string[]> {
  if (period.level === 'day') return differencesOf(await compareDay(db.slow, period, ROWS_PER_COMPARISON))
  const days = periods
    .filter(({ level, startsAt, endsAt }) => level === 'day' && startsAt >= period.startsAt && endsAt <= period.endsAt)
    .map(({ id }) => id)
  const found: string[] = []
  for (let grain = 0; grain <= STRADDLING_GRAIN; grain += 1) {
    found.push(...differencesOf(await compareMonth(db.slow, period, grain, days, ROWS_PER_COMPARISON)))
  }
  return found
}

function differencesOf({ lacking, wrong }: Mismatch): string[] {
  const wrongByGroup = new Map(wrong.map((row) => [groupOf(row), row]))
  const found: string[] = []
  for (const row of lacking) {
    const group = groupOf(row)
    const other = wrongByGroup.get(group)
    wrongByGroup.delete(group)
    if (!other) {
      found.push(`is missing the group ${group}`)
      continue
    }
    for (const figure of Object.keys(row) as (keyof RollupSums)[]) {
      if (row[figure] !== other[figure]) {
        found.push(`has ${figure} ${other[figure]} in the group ${group}, but its entries add up to ${row[figure]}`)
      }
    }
  }
  for (const group of wrongByGroup.keys()) found.push(`has an unexpected or duplicate group ${group}`)
  return found
}

/** By the keys of rows, which can be looked up in the database. */
function groupOf(row: RollupSums): string {
  const columns = row.grain === STRADDLING_GRAIN ? [...ROLLED_COLUMNS, 'straddlesTo' as const] : GRAINS[row.grain]!
  return `(${columns.map((column) => `${column} ${row[column] ?? 'none'}`).join(', ')})`
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
