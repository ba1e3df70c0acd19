/** Entries of PostgreSQL in partitions of months: what was recorded stays, and nothing is recorded twice across them. */
import { afterEach, describe, expect, test } from 'bun:test'
import type { Sql } from 'postgres'
import { MIGRATIONS } from '../../migrations/index.ts'
import { differencesIn } from '../../src/cli/integrity.ts'
import { IDS_PER_MONTH, monthAfter } from '../../src/database/monthly-ids.ts'
import { move, movedTables, openSide } from '../../src/database/move/move.ts'
import { partitionDatabase } from '../../src/database/partition.ts'
import { startApp } from '../support/app.ts'
import {
  canOverlap,
  type Location,
  locationOf,
  newLocation,
  newMigrated,
  opener,
  rowsAt,
} from '../support/databases.ts'
import { EXPANDING, migrateAt } from '../support/other-process.ts'
import { clientFor } from '../support/postgres-server.ts'
import { reportBody } from '../support/reports.ts'

const NOVEMBER = Date.UTC(2027, 10, 10)
const DECEMBER = Date.UTC(2027, 11, 1)
const JANUARY = Date.UTC(2028, 0, 1)

const MONTH_OF_ID = `(id / ${IDS_PER_MONTH})::int`

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

describe.skipIf(!canOverlap('postgres'))('partitioned entries', () => {
  const open = opener('postgres')

  async function stage({ isPartitioned = true } = {}) {
    const db = await open()
    const location = locationOf(db)
    const app = await startApp({ db })
    cleanUps.push(() => app.close())
    const token = await app.token('svc')
    const report = async (session: string, input = 10) => {
      const json = reportBody({ session_id: session, tokens: { input, output: 1 } })
      const { status, json: body } = await app.call('POST /api/v1/token-entries', { token, json })
      return { status, id: body.id as string, body }
    }
    const partition = () => partitionDatabase(location.databaseUrl!, NOVEMBER)
    if (isPartitioned) await partition()
    /** The partitions of all entries, oldest first. */
    const places = async () =>
      (await rowsAt(location, 'SELECT tableoid::regclass::text AS place FROM entries ORDER BY id')).map(
        ({ place }) => place,
      )
    const begin = (moment: number) => db.beginMonth!(moment)
    const client = () => {
      const made = clientFor(location.databaseUrl!)
      cleanUps.push(() => made.end())
      return made
    }
    return { db, location, app, token, report, partition, places, begin, client }
  }

  test('keep what was recorded where it is, and continue its sessions in later months', async () => {
    const { location, report, partition, places, begin, app } = await stage({ isPartitioned: false })
    const before = await rowsAt(location, 'SELECT relfilenode FROM pg_class WHERE oid = $$entries$$::regclass')
    const old = await report('old')
    expect(await partition()).toEqual({ earlier: 'entries_before_202711', first: 'entries_202711' })
    expect(await partition()).toBeUndefined()
    // Nothing was written anew: it is the same file.
    const file = 'SELECT relfilenode FROM pg_class WHERE oid = $$entries_before_202711$$::regclass'
    expect(await rowsAt(location, file)).toEqual(before)

    const november = await report('of November')
    expect(await begin(DECEMBER)).toBe(202_712)
    expect(await begin(DECEMBER)).toBeUndefined()
    const december = await report('of December')
    expect(await begin(JANUARY)).toBe(202_801)
    await report('of January')
    expect(await places()).toEqual(['entries_before_202711', 'entries_202711', 'entries_202712', 'entries_202801'])

    for (const [session, { id }] of Object.entries({ old, 'of November': november, 'of December': december })) {
      expect(await report(session, 500)).toMatchObject({ status: 200, id, body: { tokens: { input: 500 } } })
    }
    expect(await places()).toHaveLength(4)
    const admin = await app.session('admin')
    for (const query of ['limit=1', 'limit=1&sort=tokens', 'limit=1&updated_since=2020-01-01']) {
      const sessions: string[] = []
      for (let page = ''; ; ) {
        const { json } = await app.call(`GET /api/v1/token-entries?${query}${page}`, { session: admin })
        sessions.push(...json.data.map(({ session_id }: { session_id: string }) => session_id))
        if (!json.has_more) break
        page = `&page=${json.next_page}`
      }
      // After the last new entry, changes of a copy have the changed ones again.
      expect([query, new Set(sessions).size]).toEqual([query, 4])
    }
    expect(await differencesIn(app.services)).toEqual([])
  })

  test('are searched for a session from its month on, not before', async () => {
    const { db, app, token, location, report, begin } = await stage()
    // PostgreSQL reads small tables as a whole.
    const reportMany = async (month: string) => {
      const entries = Array.from({ length: 500 }, (_, number) => reportBody({ session_id: `${month} ${number}` }))
      const { status } = await app.call('POST /api/v1/token-entries/batch', { token, json: entries })
      expect(status).toBe(200)
    }
    await reportMany('November')
    await begin(DECEMBER)
    await reportMany('December')
    await report('of December')
    await rowsAt(location, 'ANALYZE')
    await rowsAt(location, 'SELECT pg_stat_reset()')
    for (let input = 20; input < 30; input += 1) await report('of December', input)
    // A connection has shown what it did once it is closed.
    await db.close()
    const searched = await rowsAt(
      location,
      `SELECT relname AS partition, idx_scan > 0 AS "isSearched" FROM pg_stat_user_indexes
       WHERE indexrelname IN ('entries_202711_by_session', 'entries_202712_by_session') ORDER BY relname`,
    )
    expect(searched).toEqual([
      { partition: 'entries_202711', isSearched: false },
      { partition: 'entries_202712', isSearched: true },
    ])
  })

  test('refuse the part of a session and the public id of an entry in another partition', async () => {
    const { location, report, begin, client } = await stage()
    await report('of November')
    await begin(DECEMBER)
    const sql = client()
    const again = (changes: Record<string, unknown>) =>
      sql
        .unsafe(
          `INSERT INTO entries SELECT changed.* FROM entries,
             jsonb_populate_record(entries, jsonb_build_object('id', nextval(pg_get_serial_sequence('entries', 'id'))) || $1::text::jsonb) AS changed
           LIMIT 1`,
          [JSON.stringify(changes)],
        )
        .then(
          () => 'added',
          ({ code, constraint_name }) => `${code} ${constraint_name}`,
        )
    const other = { uid: '\\x019346de6400787cb703abad89906000' }
    expect(await again(other)).toBe('23505 entries_by_session')
    const sessionless = { session_id: null, chain_model_id: null, part: null }
    expect(await again({ ...sessionless, ...other })).toBe('added')
    expect(await again({ ...sessionless, ...other })).toBe('23505 entries_202712_uid_key')
    await begin(JANUARY)
    expect(await again({ ...sessionless, ...other })).toBe('23505 entries_uid_key')
    const change = sql`UPDATE entries SET part = 2 WHERE part = 1`.then(
      () => 'changed',
      ({ code }) => code,
    )
    expect(await change).toBe('23000')
    expect(await rowsAt(location, 'SELECT id FROM entries')).toHaveLength(2)
  })

  test('begin a month while sessions are reported through two servers, of which none is refused', async () => {
    const { db, location, token, report, begin, client } = await stage()
    const second = await open({ sharing: db })
    const other = await startApp({ db: second })
    cleanUps.push(() => other.close())
    let isOver = false
    const statuses: number[] = []
    const agents = Array.from({ length: 4 }, async (_, agent) => {
      for (let number = 0; !isOver; number += 1) {
        const session = `${agent} ${number}`
        statuses.push((await report(session)).status)
        const json = reportBody({ session_id: `other ${session}` })
        statuses.push((await other.call('POST /api/v1/token-entries', { token, json })).status)
      }
    })
    const untilReported = async () => {
      const before = statuses.length
      while (statuses.length < before + 8) await Bun.sleep(5)
    }
    await untilReported()
    for (let month = 0; month < 6; month += 1) {
      const moment = Date.UTC(2027, 11 + month, 1)
      const begun = await Promise.all([begin(moment), second.beginMonth!(moment)])
      expect(begun.filter((one) => one !== undefined).length).toBeGreaterThan(0)
      await untilReported()
    }
    isOver = true
    await Promise.all(agents)
    expect(new Set(statuses)).toEqual(new Set([201]))
    expect(await rowsAt(location, 'SELECT id FROM entries')).toHaveLength(statuses.length)
    const months = await client().unsafe(
      `SELECT DISTINCT ${MONTH_OF_ID} AS month FROM entries WHERE id >= ${IDS_PER_MONTH} ORDER BY month`,
    )
    expect(months.map(({ month }) => month)).toEqual(months.map((_, index) => monthsFrom(202_711)[index]))
    expect(months).toHaveLength(7)
  })

  test('are partitioned while they are reported, and what was answered with 503 can be repeated', async () => {
    const { location, report, partition } = await stage({ isPartitioned: false })
    let isOver = false
    let recorded = 0
    const agents = Array.from({ length: 4 }, async (_, agent) => {
      for (let number = 0; !isOver; ) {
        const { status } = await report(`${agent} ${number}`)
        expect([201, 503]).toContain(status)
        if (status === 503) continue
        recorded += 1
        number += 1
      }
    })
    while (recorded < 20) await Bun.sleep(5)
    await Promise.all([partition(), partition()])
    const before = recorded
    while (recorded < before + 20) await Bun.sleep(5)
    isOver = true
    await Promise.all(agents)
    expect(await rowsAt(location, 'SELECT id FROM entries')).toHaveLength(recorded)
  })

  test('have ids of the month from the moment in which they are partitioned', async () => {
    const { location, report, partition, client } = await stage({ isPartitioned: false })
    const old = await report('old')
    const [first, second, observer] = [client(), client(), client()]
    const waiting = async (mode: string) => {
      const waits = () => observer`SELECT FROM pg_locks WHERE NOT granted AND mode = ${mode}`
      while ((await waits()).length === 0) await Bun.sleep(5)
    }
    await first.unsafe('BEGIN; LOCK TABLE revision IN ACCESS SHARE MODE')
    const partitioned = partition()
    await waiting('AccessExclusiveLock')
    // Gets the lock when the table has been exchanged, before the ids of sessions begin with the month.
    await second.unsafe('BEGIN')
    const locked = second.unsafe('LOCK TABLE revision IN ACCESS SHARE MODE').execute()
    await waiting('AccessShareLock')
    await first.unsafe('COMMIT')
    await locked
    expect((await report('between')).status).toBe(201)
    expect((await report('old', 20)).id).toBe(old.id)
    await second.unsafe('COMMIT')
    await partitioned
    expect((await report('new')).status).toBe(201)
    const months = `SELECT ${MONTH_OF_ID} AS month, (session_id / ${IDS_PER_MONTH})::int AS session FROM entries ORDER BY id`
    expect(await rowsAt(location, months)).toEqual([
      { month: 0, session: 0 },
      { month: 202_711, session: 0 },
      { month: 202_711, session: 202_711 },
    ])
  })

  test('show a program that follows the entries none too early that are being recorded', async () => {
    const { begin, client } = await stage()
    await begin(DECEMBER)
    const [early, late] = [client(), client()]
    const draw = (sql: Sql) =>
      sql.unsafe<{ id: string }[]>(
        `SELECT nextval(name) AS id FROM (SELECT name, announce_ids(name) FROM
         (SELECT pg_get_serial_sequence('entries', 'id')::regclass AS name OFFSET 0) AS named OFFSET 0) AS sequence`,
      )
    const settled = async () => Number((await late`SELECT settled_id('entries') AS id`)[0]!.id)
    await early.unsafe('BEGIN')
    const [{ id }] = (await draw(early)) as unknown as [{ id: string }]
    for (let number = 0; number < 600; number += 1) await draw(late)
    expect(await settled()).toBeLessThan(Number(id))
    expect(await settled()).toBeGreaterThan(Number(id) - 300)
    await early.unsafe('COMMIT')
    expect(await settled()).toBe(Number(id) + 600)
  })

  test('get the indexes of later versions, each partition while others write', async () => {
    const { location, begin } = await stage()
    const sql = {
      sqlite: 'SELECT 1;',
      postgres: 'CREATE INDEX CONCURRENTLY entries_by_agent ON entries (agent_id) WHERE status = $$held$$;',
    }
    // What an interrupted attempt has left.
    await rowsAt(location, 'CREATE INDEX entries_by_agent ON ONLY entries (agent_id)')
    await rowsAt(location, 'CREATE INDEX entries_202711_entries_by_agent ON entries_202711 (agent_id)')
    await rowsAt(location, 'ALTER INDEX entries_by_agent ATTACH PARTITION entries_202711_entries_by_agent')
    await migrateAt(location, [...MIGRATIONS, { ...EXPANDING, sql }])
    await begin(DECEMBER)
    const valid = `SELECT count(*)::int AS indexes, bool_and(indisvalid) AS valid FROM pg_index
      WHERE pg_get_indexdef(indexrelid) LIKE '%(agent_id) WHERE%'`
    expect(await rowsAt(location, valid)).toEqual([{ indexes: 4, valid: true }])
  })

  test('are moved to the embedded database and back, and partitioned there for a month that is new', async () => {
    const { location, report, begin } = await stage()
    await report('of November')
    await begin(DECEMBER)
    await report('of December')
    const back = await newMigrated('postgres', cleanUps)
    const embedded = await newLocation('sqlite', cleanUps)
    const tables = movedTables()
    const side = ({ dataDir, databaseUrl }: Location, creates: boolean) =>
      openSide({ dataDir, databaseUrl }, { tables, now: 0, creates })
    for (const [from, to] of [
      [location, embedded],
      [embedded, back],
    ] as const) {
      const [source, target] = [await side(from, false), await side(to, true)]
      await move({ source, target, tables, now: Date.now, onProgress: () => undefined })
      await Promise.all([source.close(), target.close()])
    }
    const ids = `SELECT id::text AS id FROM entries ORDER BY id`
    expect(await rowsAt(back, ids)).toEqual(await rowsAt(location, ids))
    expect(await partitionDatabase(back.databaseUrl!, NOVEMBER)).toMatchObject({ first: 'entries_202801' })
  })

  test('are not what a move begins with', async () => {
    const { location } = await stage()
    const tables = movedTables()
    const at = await newMigrated('sqlite', cleanUps)
    const source = await openSide({ ...at, databaseUrl: undefined }, { tables, now: 0, creates: false })
    const target = await openSide({ dataDir: '', databaseUrl: location.databaseUrl }, { tables, now: 0, creates: true })
    const moved = move({ source, target, tables, now: Date.now, onProgress: () => undefined })
    expect(await moved.catch((error: Error) => error.message)).toContain('is in use. Move to a new, empty database.')
    await Promise.all([source.close(), target.close()])
  })
})

/** The month and those after it. */
function monthsFrom(month: number): number[] {
  const months = [month]
  while (months.length < 12) months.push(monthAfter(months.at(-1)!))
  return months
}
