/** References that triggers check on PostgreSQL instead of foreign keys: in no way can anybody make one that dangles. */
import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Sql } from 'postgres'
import { MIGRATIONS } from '../../migrations/index.ts'
import { findDamage } from '../../src/database/damage.ts'
import type { Database } from '../../src/database/database.ts'
import { CHECKED_REFERENCES, MISSING_REFERENCES } from '../../src/database/engines/postgres/references.ts'
import { partitionDatabase } from '../../src/database/partition.ts'
import { startApp } from '../support/app.ts'
import { canOverlap, locationOf, opener } from '../support/databases.ts'
import { migrateAt } from '../support/other-process.ts'
import { clientFor } from '../support/postgres-server.ts'
import { reportBody } from '../support/reports.ts'
import { runs } from '../support/tier.ts'

const NOBODY = 987_654_321
const DANGLES = '23503'
const KEPT = '23000'
const REFERRED = [...new Set(Object.values(CHECKED_REFERENCES).flatMap((columns) => Object.values(columns)))]

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

/** The code of the error; undefined if there is none. */
const codeOf = (query: PromiseLike<unknown>): Promise<string | undefined> =>
  Promise.resolve(query).then(
    () => undefined,
    ({ code }) => code,
  )

describe.skipIf(!canOverlap('postgres'))('references that triggers check', () => {
  const open = opener('postgres')

  function connect(db: Database): Sql {
    const client = clientFor(locationOf(db).databaseUrl!)
    cleanUps.push(() => client.end())
    return client
  }

  /** An entry that refers to rows of all tables, and statements that add and change rows like it. */
  async function stage({ isPartitioned = false } = {}) {
    const db = await open()
    if (isPartitioned) await partitionDatabase(locationOf(db).databaseUrl!, Date.now())
    const app = await startApp({ db })
    cleanUps.push(() => app.close())
    const session = await app.session()
    const conditions = [{ field: 'labels.branch', matches: 'main' }]
    await app.call('POST /api/v1/projects', { session, json: { key: 'ACME' } })
    await app.call('POST /api/v1/placement-rules', { session, json: { name: 'all', conditions, project: 'ACME' } })
    const json = reportBody({ session_id: 'one', provider: 'openai', labels: { branch: 'main' } })
    await app.call('POST /api/v1/token-entries', { token: await app.token('svc'), json })
    const client = connect(db)
    let numbers = 0
    /** Adds rows like the only one, with these values, into the table or one of its partitions. */
    const add = (table: string, values: Record<string, unknown>, { into = table } = {}) => {
      numbers += 1
      const own =
        table === 'entries'
          ? { uid: `\\x${`${numbers}`.padStart(32, '0')}`, part: 100 + numbers }
          : { session_key: `${numbers}` }
      const row = JSON.stringify({ ...own, ...values })
      return client.unsafe(
        `INSERT INTO ${into} SELECT added.* FROM (SELECT * FROM ${table} ORDER BY id LIMIT 1) AS first,
         jsonb_populate_record(NULL::${table}, to_jsonb(first) || jsonb_build_object('id', first.id + ${numbers}) || '${row}') AS added`,
      )
    }
    const missing = async () => (await client.unsafe(MISSING_REFERENCES)).map((row) => ({ ...row }))
    return { db, client, add, missing }
  }

  for (const isPartitioned of [false, true]) {
    test(`are of rows that exist${isPartitioned ? ', in each partition' : ''}`, async () => {
      const { client, add, missing } = await stage({ isPartitioned })
      const parts = await client<{ part: string }[]>`
        SELECT inhrelid::regclass::text AS part FROM pg_inherits WHERE inhparent = 'entries'::regclass`
      // The last one is that of this month.
      const places = { entries: ['entries', ...parts.slice(-1).map(({ part }) => part)], sessions: ['sessions'] }
      for (const [table, columns] of Object.entries(CHECKED_REFERENCES)) {
        for (const into of places[table as keyof typeof places]) {
          for (const column of Object.keys(columns)) {
            const of = [column, into]
            const set = `UPDATE ${into} SET ${column} = ${NOBODY}`
            expect([of, await codeOf(add(table, { [column]: NOBODY }, { into }))]).toEqual([of, DANGLES])
            // Entries never change their session there.
            const refused = isPartitioned && ['session_id', 'chain_model_id'].includes(column) ? KEPT : DANGLES
            expect([of, await codeOf(client.unsafe(set))]).toEqual([of, refused])
            const conflict = `ON CONFLICT (id) DO UPDATE SET ${column} = ${NOBODY}`
            expect([of, await codeOf(client.unsafe(`INSERT INTO ${into} SELECT * FROM ${into} ${conflict}`))]).toEqual([
              of,
              refused,
            ])
          }
          expect(await codeOf(add(table, {}, { into }))).toBeUndefined()
        }
      }
      const none = {
        provider_id: null,
        token_id: null,
        session_id: null,
        chain_model_id: null,
        part: null,
        label_set_id: null,
      }
      expect(await codeOf(add('entries', none))).toBeUndefined()
      const named = `WITH added AS (INSERT INTO names (id, text) VALUES (${NOBODY}, 'new') RETURNING id) UPDATE entries SET agent_id = added.id FROM added`
      expect(await codeOf(client.unsafe(named))).toBeUndefined()
      expect(await missing()).toEqual([])
    })
  }

  test.each(REFERRED)('keep the rows of %s, and their ids', async (table) => {
    const { client } = await stage()
    expect((await client.unsafe(`SELECT FROM ${table}`)).length).toBeGreaterThan(0)
    for (const statement of [
      `DELETE FROM ${table}`,
      `TRUNCATE ${table} CASCADE`,
      `UPDATE ${table} SET id = id + ${NOBODY}`,
    ]) {
      expect([statement, await codeOf(client.unsafe(statement))]).toEqual([statement, KEPT])
    }
  })

  test('are found by `tally verify` if somebody has switched the triggers off', async () => {
    const { db, client, missing } = await stage()
    expect(await findDamage(db)).toEqual([])
    await client`SET session_replication_role = replica`
    await client`UPDATE entries SET agent_id = ${NOBODY}`
    const [{ id }] = await client<[{ id: string }]>`SELECT id FROM entries`
    expect(await missing()).toMatchObject([{ table: 'entries', rowid: id, parent: 'names' }])
    expect(await findDamage(db)).toEqual([`Row ${id} of entries refers to a missing row of names.`])
  })

  test('are checked by triggers alone after the migration, in each partition', async () => {
    const { db, client, add } = await stage({ isPartitioned: true })
    const parts = await client<{ part: string }[]>`
      SELECT relid::regclass::text AS part FROM pg_partition_tree('entries')`
    for (const { part } of parts) await client.unsafe(`DROP TRIGGER entries_referring_inserted ON ${part}`)
    await client`ALTER TABLE entries ADD CONSTRAINT entries_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES names (id)`
    await client`DELETE FROM migrations WHERE version = 65`
    await migrateAt(locationOf(db), MIGRATIONS)
    const keys = await client`SELECT FROM pg_constraint WHERE conname LIKE 'entries_agent_id_fkey%'`
    expect(keys).toHaveLength(0)
    for (const into of ['entries', parts.at(-1)!.part]) {
      expect(await codeOf(add('entries', { agent_id: NOBODY }, { into }))).toBe(DANGLES)
    }
  })

  /** A step of one of two transactions, which use and remove the same few names. */
  const step = fc.record({
    of: fc.constantFrom(0, 1),
    what: fc.constantFrom(
      ...[
        'begin',
        'begin',
        'commit',
        'commit',
        'rollback',
        'savepoint',
        'back',
        'name',
        'remove',
        'remove',
        'renumber',
      ],
      ...['session', 'entry', 'entry', 'change'],
    ),
    name: fc.integer({ min: 1, max: 2 }),
    isolation: fc.constantFrom('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'),
  })

  test('never dangle, whatever two transactions do', async () => {
    const { db, client, missing } = await stage()
    const both = [connect(db), connect(db)]
    for (const one of both) await one`SET lock_timeout = 5`
    const [{ uid }] = await client<[{ uid: string }]>`SELECT uid::text FROM entries`
    let number = 0
    let used = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        number += 10
        await client`INSERT INTO names (id, text) VALUES (${number + 1}, ${`${number + 1}`})`
        for (const { of, what, name, isolation } of steps) {
          const id = number + name
          const unique = crypto.randomUUID()
          const entry = `SELECT (json_populate_record(like_it, json_build_object('id', nextval(pg_get_serial_sequence('entries', 'id')),
            'uid', '\\x${unique.replaceAll('-', '')}', 'session_id', NULL, 'chain_model_id', NULL, 'part', NULL, 'agent_id', ${id}))).*
            FROM entries AS like_it WHERE uid = '${uid}'`
          const statements: Record<typeof what, string> = {
            begin: `BEGIN ISOLATION LEVEL ${isolation}`,
            commit: 'COMMIT',
            rollback: 'ROLLBACK',
            savepoint: 'SAVEPOINT here',
            back: 'ROLLBACK TO SAVEPOINT here',
            name: `INSERT INTO names (id, text) VALUES (${id}, '${id}')`,
            remove: `DELETE FROM names WHERE id = ${id}`,
            renumber: `UPDATE names SET id = ${id + 5} WHERE id = ${id}`,
            session: `INSERT INTO sessions (session_key, harness_id, manager_id, source) SELECT '${unique}', ${id}, min(id), 'report' FROM users`,
            entry: `INSERT INTO entries ${entry}`,
            change: `UPDATE entries SET agent_id = ${id} WHERE uid = '${uid}'`,
          }
          await codeOf(both[of]!.unsafe(statements[what]!))
        }
        for (const one of both) await codeOf(one.unsafe('COMMIT'))
        expect(await missing()).toEqual([])
        used += (await client`SELECT FROM entries WHERE agent_id BETWEEN ${number} AND ${number + 9}`).length
      }),
      { numRuns: runs(400, 40) },
    )
    // Otherwise, nothing was tried.
    expect(used).toBeGreaterThan(0)
  })
})
