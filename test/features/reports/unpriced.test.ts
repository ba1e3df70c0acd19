import { Database as Connection } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { DATABASE_FILE } from '../../../src/database/open.ts'
import { unpricedQuery } from '../../../src/features/reports/store/unpriced.ts'
import { forEachEngine, locationOf } from '../../support/databases.ts'
import { all, Chance, DAY, NOW, randomEntry, stage } from '../rollup/scene.ts'

forEachEngine('the report of unpriced models', (open) => {
  test('counts the entries of long periods and of short ones', async () => {
    const chance = new Chance(3)
    const db = await open()
    const scene = await stage(db)
    const rows = Array.from({ length: 60 }, () => randomEntry(chance, scene))
    await db.write(async (tx) => void (await tx.insert(tx.tables.entries).values(rows as never)))
    const { reports } = scene.services
    const unpriced = (await all(db.read)).filter(({ listValue, reportedCost }) => listValue === null && !reportedCost)
    for (const days of [1, 10, 20, 100, 400]) {
      const since = NOW - days * DAY
      const asked = await reports.readUnpriced(
        { starting_at: new Date(since).toISOString(), ending_at: '2026-11-30' },
        COMMAND_LINE,
      )
      const { data } = await reports.unpriced(EVERYTHING, asked)
      const expected = unpriced.filter(({ startedAt }) => startedAt >= since).length
      expect([days, data.reduce((sum, { entries }) => sum + entries, 0)]).toEqual([days, expected])
    }
  })

  test('reads years from the index of unpriced entries, and days from that of all entries', async () => {
    const db = await open()
    const { dataDir, databaseUrl } = locationOf(db)
    // The planner of PostgreSQL knows how many entries there are.
    if (databaseUrl) return
    const indexOf = (from: number) => {
      const asked = { viewer: EVERYTHING, condition: undefined, from, to: NOW, after: 0, limit: 10 }
      const { sql, params } = unpricedQuery(db.read, asked, undefined).toSQL()
      using connection = new Connection(join(dataDir!, DATABASE_FILE), { readonly: true })
      return JSON.stringify(connection.query(`EXPLAIN QUERY PLAN ${sql}`).all(...(params as number[])))
    }
    expect(indexOf(NOW - 365 * DAY)).toContain('entries_unpriced')
    expect(indexOf(NOW - DAY)).toContain('entries_by_start')
  })
})
