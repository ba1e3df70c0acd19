import { expect, test } from 'bun:test'
import { eq, inArray } from 'drizzle-orm'
import { EVERYTHING, viewerOf } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { CHECKS, type CheckName } from '../../../src/features/reports/checks.ts'
import type { PeriodAloneQuery } from '../../../src/features/reports/query.ts'
import { countEntries } from '../../../src/features/reports/store/completeness.ts'
import { createRollup } from '../../../src/features/rollup/job.ts'
import type { EntryFilter } from '../../../src/features/selection/filter.ts'
import { conditionOf } from '../../../src/features/selection/sql/conditions.ts'
import { moneyNumber } from '../../../src/lib/money.ts'
import { forEachEngine } from '../../support/databases.ts'
import {
  AT_ONCE,
  all,
  CHANGES,
  Chance,
  clock,
  DAY,
  FIRST,
  HOUR,
  NOW,
  randomEntry,
  type Stage,
  stage,
} from '../rollup/scene.ts'

const CHECK_NAMES = Object.keys(CHECKS) as CheckName[]

/** Entries of every kind that a check looks for. */
async function addEntries(db: Database, chance: Chance, scene: Stage): Promise<void> {
  const rows = Array.from({ length: 150 }, () => {
    const entry = randomEntry(chance, scene)
    const isHeld = chance.is(0.3)
    return {
      ...entry,
      status: isHeld ? chance.of(['held', 'discarded', 'voided'] as const) : entry.status,
      // On nothing, by hand.
      placedBy: entry.placedBy ?? chance.of([null, 'manual'] as const),
      superseded: chance.is(0.1),
      ...(chance.is(0.1) && { reportedCost: 5_000_000_000n }),
    }
  })
  await db.write(async (tx) => {
    const { entries, projects } = tx.tables
    await tx.insert(entries).values(rows as never)
    const [first, ...others] = await all(tx)
    const ids = others.filter(() => chance.is(0.2)).map(({ id }) => id)
    await tx.update(entries).set({ possibleDuplicateId: first!.id }).where(inArray(entries.id, ids))
    await tx.update(projects).set({ billable: false }).where(eq(projects.id, scene.projectIds[1]!))
  })
  for (const change of CHANGES.slice(2, 5)) await change(db, chance, scene)
}

/** The number and cost of the entries that the lists of the checks contain. */
async function listedEntries(db: Database, viewer: typeof EVERYTHING, asked: PeriodAloneQuery) {
  const found = Object.entries(CHECKS).map(async ([name, check]) => {
    const own: EntryFilter = check.filter(asked)
    const bounds = { starting_at: asked.startingAt, ending_at: asked.endingAt }
    const condition = conditionOf(db.read, { ...asked.filter, ...bounds, superseded: false, ...own })
    const { entries, unpricedEntries, costNanos } = await countEntries(db.read, { viewer, condition })
    return [name, entries, unpricedEntries, moneyNumber(costNanos)] as [CheckName, number, number, number | null]
  })
  return Promise.all(found)
}

forEachEngine('the completeness of a period', (open) => {
  test('counts what its lists contain, whichever days are in columns', async () => {
    const chance = new Chance(7)
    const db = await open()
    const scene = await stage(db)
    await addEntries(db, chance, scene)
    const { reports } = scene.services
    const rollup = createRollup({ db, clock, timeZone: async () => 'UTC', ...AT_ONCE })
    const member = viewerOf({ id: scene.managers[0]!.id, role: 'member' })
    const filters: EntryFilter[] = [
      {},
      { project: ['ALPHA', 'BETA'] },
      { client: ['Acme'] },
      { agent_manager: ['bob@example.com'], agent_name: ['agent'] },
    ]
    const found = new Set<string>()
    for (let round = 0; round < 12; round += 1) {
      const startingAt = chance.of([FIRST, Date.parse('2026-11-01'), FIRST + chance.below(20 * DAY)])
      const endingAt = chance.of([NOW + HOUR, Date.parse('2026-11-15'), NOW - chance.below(5 * DAY)])
      const asked = { startingAt, endingAt, timeZone: 'UTC', filter: filters[round % 4]!, format: undefined }
      const viewer = chance.is(0.3) ? member : EVERYTHING
      const { data } = await reports.completeness(viewer, asked)
      const counted = data.map(({ check, entries, unpriced_entries, cost }) => [check, entries, unpriced_entries, cost])
      expect([asked, counted]).toEqual([asked, await listedEntries(db, viewer, asked)])
      for (const { check, entries } of data) if (entries > 0) found.add(check)
      // At first no day is in columns, then some, then all but those that a change has made stale.
      for (let steps = round < 6 ? 8 : 200; steps > 0; steps -= 1) if ((await rollup.step()) === 'idle') break
      if (round > 8) await chance.of(CHANGES)(db, chance, scene)
    }
    expect(CHECK_NAMES.filter((check) => !found.has(check))).toEqual([])
  })
})
