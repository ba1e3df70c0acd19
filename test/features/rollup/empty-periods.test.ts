import { expect, test } from 'bun:test'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { createRollup } from '../../../src/features/rollup/job.ts'
import { findSearchStart, searchEntries } from '../../../src/features/rollup/service.ts'
import type { EntryFilter } from '../../../src/features/selection/filter.ts'
import { opener } from '../../support/databases.ts'
import { AT_ONCE, Chance, clock, DAY, HOUR, NOW, randomEntry, stage } from './scene.ts'

const open = opener('sqlite')

/** Two months ago, so that the month is complete. */
const EARLY = NOW - 55 * DAY

/** A database with one unpriced report. */
async function withOneEntry(): Promise<Database> {
  const db = await open({ priced: true })
  const scene = await stage(db)
  const entry = { ...randomEntry(new Chance(1), scene), startedAt: EARLY, endedAt: EARLY + HOUR, reportedCost: null }
  const added = { ...entry, listValue: null, priceId: null, priceStep: null, source: 'report' }
  await db.write((tx) => tx.insert(tx.tables.entries).values(added as never) as never)
  const rollup = createRollup({ db, clock, timeZone: async () => 'UTC', ...AT_ONCE })
  while ((await rollup.step()) !== 'idle');
  return db
}

/** How many segments of the entries of days a search reads. */
async function daysRead(db: Database, filter: EntryFilter): Promise<number> {
  const task = { viewer: EVERYTHING, filter, sort: 'started_at', order: 'desc', limit: 10 } as const
  let days = 0
  await db.slowly(
    {
      name: 'counted',
      run: async (reader) => {
        const counting: typeof reader = Object.create(reader, {
          prepared: {
            value: (key: string, build: never) => {
              const query = reader.prepared<never>(key, build)
              const execute = (values: Record<string, unknown> = {}) => {
                if (values.grain === 0) days += 1
                return query.execute(values)
              }
              return { execute }
            },
          },
        })
        await (filter.bill ? findSearchStart(counting, task) : searchEntries(counting, task))
      },
    },
    {},
  )
  return days
}

test('days are read only if the sums of their month may have an entry that matches', async () => {
  const db = await withOneEntry()
  expect(await daysRead(db, { source: ['report'] })).toBeGreaterThan(0)
  const unmatched: EntryFilter[] = [
    { source: ['metric'] },
    // No sums have whether an entry is a possible duplicate, or a bill.
    { source: ['metric'], possible_duplicate: true },
    { source: ['metric'], bill: ['none'] },
    { price_load: ['pld_00000000000070008000000000000000'], bill: ['none'] },
    { priced: true },
    { priced: false, source: ['metric'] },
    { cost_mismatch: true },
    { ended_after: EARLY + DAY },
  ]
  for (const filter of unmatched) expect([filter, await daysRead(db, filter)]).toEqual([filter, 0])
})
