/** Migration 11 keeps every entry, and finds out from their history which fields people have corrected. */
import { afterEach, expect, test } from 'bun:test'
import { MIGRATIONS } from '../../migrations/index.ts'
import { forEachEngine, newLocation, rowsAt } from '../support/databases.ts'
import { migrateAt } from '../support/other-process.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

const upTo = (version: number) => MIGRATIONS.filter((migration) => migration.version <= version)

forEachEngine('migration 11', (_, engine) => {
  const bytes = (id: number) =>
    engine === 'sqlite' ? `x'${`0${id}`.repeat(16)}'` : `decode(repeat('0${id}', 16), 'hex')`

  test('keeps entries, lets them be held, and notes what people have corrected', async () => {
    const location = await newLocation(engine, cleanUps)
    await migrateAt(location, upTo(10), 1)
    await rowsAt(location, `INSERT INTO names (id, text) VALUES (1, 'a')`)
    await rowsAt(
      location,
      `INSERT INTO users (id, uid, email, name, role, created_at) VALUES (1, ${bytes(1)}, 'a@b', 'A', 'admin', 1)`,
    )
    await rowsAt(
      location,
      `INSERT INTO sessions (id, session_key, harness_id, manager_id, source) VALUES (1, 's', 1, 1, 'report')`,
    )
    for (const id of [1, 2, 3, 4]) {
      await rowsAt(
        location,
        `INSERT INTO entries (id, uid, manager_id, source, status, harness_id, agent_id, model_id, started_at, ended_at,
           input, output, cache_read, cache_write, cache_write_1h, usage_details, session_id, chain_model_id, part,
           continues_id, created_at)
         VALUES (${id}, ${bytes(id)}, 1, 'report', 'submitted', 1, 1, 1, 1, 2, ${id}, 9, 9, 9, 9,
           '{"speed":"fast"}', 1, 1, ${id}, ${id === 1 ? 'NULL' : id - 1}, 1)`,
      )
    }
    for (const [entry, action, details] of [
      [1, 'corrected', '{"summary":{"from":null,"to":"x"}}'],
      [2, 'corrected', '{"labels":{"from":{},"to":{"team":"a"}}}'],
      [2, 'placed', '{"because":"by_hand","summary":{"from":"x","to":null}}'],
      [3, 'placed', '{"because":"named_in_report"}'],
    ] as const) {
      await rowsAt(
        location,
        `INSERT INTO entry_history (entry_id, at, action, details) VALUES (${entry}, 5, '${action}', '${details}')`,
      )
    }
    const columns = 'id, status, input, usage_details, part, continues_id'
    const before = await rowsAt(location, `SELECT ${columns} FROM entries ORDER BY id`)
    await migrateAt(location, upTo(11), 2)
    expect(await rowsAt(location, `SELECT ${columns} FROM entries ORDER BY id`)).toEqual(before)
    const corrected = await rowsAt(location, 'SELECT corrected FROM entries ORDER BY id')
    const fields = corrected.map((row) => JSON.parse((row.corrected as string | null) ?? 'null'))
    expect(fields).toEqual([['summary'], ['labels', 'summary'], null, null])

    await rowsAt(location, 'DELETE FROM stale_hours')
    await rowsAt(location, `UPDATE entries SET status = 'held' WHERE id = 4`)
    expect((await rowsAt(location, 'SELECT hour FROM stale_hours')).map(({ hour }) => Number(hour))).toEqual([0])
    const refused = await rowsAt(location, `UPDATE entries SET status = 'lost' WHERE id = 4`).catch((error) => error)
    expect(String(refused)).toMatch(/check/i)
    const settings = await rowsAt(location, 'SELECT same_session FROM organization')
    expect(settings.map((row) => row.same_session)).toEqual(['hold'])
  })
})
