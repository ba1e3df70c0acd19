/**
 * Whether the roll-up says what the entries say. Days are summed from their entries again, months from their days. A
 * period that changes meanwhile is passed over: reports do not trust it either.
 */
import type { Database } from '../../database/database.ts'
import { dayAt } from './rollup-calendar.ts'
import { GRAINS, ROLLED_COLUMNS, STRADDLING_GRAIN } from './rollup-grain.ts'
import type { Period, Range } from './rollup-plan.ts'
import {
  findNextStart,
  holds,
  listCleanPeriods,
  listSums,
  listZones,
  type RollupSums,
  readState,
  sumEntries,
  sumPeriods,
} from './store/rollup.ts'

/** Differences named of one period: the first show what is wrong, and a roll-up that is wrong throughout has millions. */
const NAMED_PER_PERIOD = 3

export interface CheckOptions {
  db: Database
  /** Called with how many periods were looked at, of how many. */
  onProgress?: ((done: number, total: number) => void) | undefined
}

/** A sentence for every difference; none where the roll-up is right. */
export async function checkRollup({ db, onProgress }: CheckOptions): Promise<string[]> {
  const differences: string[] = []
  for (const { zone, ready } of await listZones(db.read)) {
    if (!ready) continue
    const periods = await listCleanPeriods(db.read, zone)
    for (const [done, period] of periods.entries()) {
      onProgress?.(done, periods.length)
      const found = await checkPeriod(db, period, periods)
      // Only now: whatever changed while it was summed has left a mark.
      if (found.length === 0 || !(await holds(db.read, period))) continue
      const name = `The ${period.level} that begins at ${new Date(period.startsAt).toISOString()} (${zone})`
      differences.push(...found.slice(0, NAMED_PER_PERIOD).map((difference) => `${name} ${difference}.`))
      if (found.length > NAMED_PER_PERIOD) differences.push(`${name} has ${found.length - NAMED_PER_PERIOD} more.`)
    }
    differences.push(...(await findForgottenDays(db, zone)))
  }
  return differences
}

async function checkPeriod(db: Database, period: Period, periods: Period[]): Promise<string[]> {
  const range = { from: period.startsAt, to: period.endsAt }
  const days = periods.filter(
    ({ level, startsAt, endsAt }) => level === 'day' && startsAt >= range.from && endsAt <= range.to,
  )
  const found: string[] = []
  for (let grain = 0; grain <= STRADDLING_GRAIN; grain += 1) {
    const right =
      period.level === 'day'
        ? await sumEntries(db.slow, grain, range)
        : await sumPeriods(
            db.slow,
            grain,
            days.map(({ id }) => id),
            range,
          )
    found.push(...differencesOf(right, await listSums(db.slow, period.id, grain)))
  }
  return found
}

function differencesOf(right: RollupSums[], kept: RollupSums[]): string[] {
  const keptByGroup = new Map(kept.map((row) => [groupOf(row), row]))
  const found: string[] = []
  if (keptByGroup.size !== kept.length) found.push('has groups that are there twice')
  for (const row of right) {
    const group = groupOf(row)
    const other = keptByGroup.get(group)
    keptByGroup.delete(group)
    if (!other) {
      found.push(`lacks the group ${group}`)
      continue
    }
    for (const figure of Object.keys(row) as (keyof RollupSums)[]) {
      if (row[figure] !== other[figure]) {
        found.push(
          `has ${other[figure]} as ${figure} of the group ${group}, where the entries add up to ${row[figure]}`,
        )
      }
    }
  }
  for (const group of keptByGroup.keys()) found.push(`has the group ${group}, of which there are no entries`)
  return found
}

/** By the keys of rows, which is what can be looked up in the database. */
function groupOf(row: RollupSums): string {
  const columns = row.grain === STRADDLING_GRAIN ? [...ROLLED_COLUMNS, 'straddlesTo' as const] : GRAINS[row.grain]!
  return `(${columns.map((column) => `${column} ${row[column] ?? 'none'}`).join(', ')})`
}

/** Days that have entries, though neither a row nor a mark says so: reports take them for empty. */
async function findForgottenDays(db: Database, zone: string): Promise<string[]> {
  const forgotten: string[] = []
  for (let from = Number.MIN_SAFE_INTEGER; ; ) {
    const start = await findNextStart(db.read, from)
    if (start === undefined) return forgotten
    const day: Range = dayAt(start, zone)
    const { periods, staleHours } = await readState(db.read, zone, day)
    const isKnown = staleHours.length > 0 || periods.some(({ level }) => level === 'day')
    if (!isKnown) forgotten.push(`The day that begins at ${new Date(day.from).toISOString()} (${zone}) is missing.`)
    from = day.to
  }
}
