/** Migration 10 converts the long-context counts of earlier versions into JSON, exactly. */
import { afterEach, expect, test } from 'bun:test'
import { MIGRATIONS } from '../../migrations/index.ts'
import { detailsOf, readTotals } from '../../src/features/entries/rows.ts'
import { forEachEngine, newLocation, rowsAt } from '../support/databases.ts'
import { migrateAt } from '../support/other-process.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

const TOTALS = {
  model: 'say "over_200k":null',
  provider: null,
  started_at: 1,
  ended_at: 2,
  requests: 3,
  reported_cost: '123456789012345678',
}

forEachEngine('migration 10', (_, engine) => {
  const bytes = (id: number) =>
    engine === 'sqlite' ? `x'${`0${id}`.repeat(16)}'` : `decode(repeat('0${id}', 16), 'hex')`

  test('keeps the counts of long requests of entries, sources and telemetry', async () => {
    const location = await newLocation(engine, cleanUps)
    await migrateAt(location, MIGRATIONS.slice(0, 9), 1)
    await rowsAt(location, `INSERT INTO names (id, text) VALUES (1, 'a')`)
    await rowsAt(
      location,
      `INSERT INTO users (id, uid, email, name, role, created_at) VALUES (1, ${bytes(1)}, 'a@b', 'A', 'admin', 1)`,
    )
    await rowsAt(
      location,
      `INSERT INTO sessions (id, session_key, harness_id, manager_id, source) VALUES (1, 's', 1, 1, 'report')`,
    )
    for (const [id, over] of [
      [1, '(1000000000000, 2, 3, 4, 5)'],
      [2, '(0, 0, 0, 0, 0)'],
      [3, '(NULL, NULL, NULL, NULL, NULL)'],
    ] as const) {
      await rowsAt(
        location,
        `INSERT INTO entries (id, uid, manager_id, source, status, harness_id, agent_id, model_id, started_at, ended_at,
           input, output, cache_read, cache_write, cache_write_1h, over_200k_input, over_200k_output,
           over_200k_cache_read, over_200k_cache_write, over_200k_cache_write_1h, created_at)
         VALUES (${id}, ${bytes(id)}, 1, 'report', 'submitted', 1, 1, 1, 1, 2, 1000000000000, 9, 9, 9, 9,
           ${over.slice(1, -1)}, 1)`,
      )
    }
    const counts = { input: 9, output: 9, cache_read: 9, cache_write: 9, cache_write_1h: 9 }
    for (const [source, over_200k] of [
      ['report', [1, 2, 3, 4, 5]],
      ['log', null],
    ] as const) {
      const totals = JSON.stringify({ ...TOTALS, ...counts, over_200k })
      await rowsAt(location, `INSERT INTO session_sources VALUES (1, 1, '${source}', '${totals}')`)
    }
    for (const [source, over_200k] of [
      ['log', [1, 2, 3, 4, 5, 6]],
      ['metric', null],
    ] as const) {
      const totals = JSON.stringify({ ...TOTALS, parts: [9, 9, 9, 9, 9, 9], over_200k, cost_incomplete: false })
      await rowsAt(location, `INSERT INTO telemetry_totals VALUES (1, 1, '${source}', '${totals}')`)
    }

    await migrateAt(location, MIGRATIONS.slice(0, 10), 2)

    const entries = await rowsAt(location, 'SELECT usage_details FROM entries ORDER BY id')
    const details = entries.map((row) => detailsOf({ usageDetails: row.usage_details as string | null }))
    expect(details[0]?.requestsAbove).toEqual([
      { threshold: 200_000, counts: { input: 1e12, output: 2, cacheRead: 3, cacheWrite: 4, cacheWrite1h: 5 } },
    ])
    expect(entries[1]?.usage_details).toBe('{"above":[[200000,0,0,0,0,0]]}')
    expect(details[2]).toBeNull()

    const sources = await rowsAt(location, 'SELECT totals FROM session_sources ORDER BY source DESC')
    const [report, log] = sources.map(({ totals }) => readTotals(JSON.parse(totals as string)))
    expect(report).toMatchObject({
      model: TOTALS.model,
      totals: { reportedCostNanos: 123456789012345678n, requests: 3 },
    })
    expect(report?.totals.details?.requestsAbove).toEqual([
      { threshold: 200_000, counts: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cacheWrite1h: 5 } },
    ])
    expect(log?.totals.details).toBeNull()
    expect(sources[0]?.totals).not.toContain('"over_200k":[')

    const telemetry = await rowsAt(location, 'SELECT totals FROM telemetry_totals ORDER BY source')
    expect(telemetry.map(({ totals }) => JSON.parse(totals as string))).toEqual([
      { ...TOTALS, parts: [9, 9, 9, 9, 9, 9], cost_incomplete: false, above: [[200_000, 1, 2, 3, 4, 5, 6]] },
      { ...TOTALS, parts: [9, 9, 9, 9, 9, 9], cost_incomplete: false, above: null },
    ])
  })
})
