/** Reads from a replica of PostgreSQL: never older than from the primary, and answered by the primary if need be. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { Member, makeMembersFolder } from '../../scripts/chaos/postgres-member.ts'
import { type DatabaseCaller, onBehalfOf, type ReplicaState } from '../../src/database/caller.ts'
import type { Database } from '../../src/database/database.ts'
import { type OpenOptions, openDatabase } from '../../src/database/open.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Installation } from '../support/binary.ts'
import { postgresPrograms } from '../support/postgres-programs.ts'
import { until } from '../support/processes.ts'
import { readWhere, SLOW_PROGRAM, WHERE, WHERES } from '../support/slow-program.ts'

describe.skipIf(!postgresPrograms())('a read replica', () => {
  let folder: string
  let primary: Member
  let replica: Member
  let names = 0
  const opened: Database[] = []

  beforeAll(async () => {
    folder = makeMembersFolder()
    primary = new Member(folder, 'primary')
    replica = new Member(folder, 'replica', ['max_standby_streaming_delay=0'])
    await primary.create()
    await (await openDatabase({ dataDir: '', databaseUrl: primary.url, clock: systemClock })).close()
    await replica.follow(primary)
    // So that the primary does not wait for a replica that is gone.
    await primary.do(async (sql) => {
      await sql.unsafe('ALTER SYSTEM RESET synchronous_standby_names')
      await sql.unsafe('SELECT pg_reload_conf()')
    })
  }, 180_000)

  afterEach(async () => {
    for (const db of opened.splice(0)) await db.close()
  })

  afterAll(async () => {
    await replica.crash()
    await primary.crash()
    rmSync(folder, { recursive: true, force: true })
  })

  async function open(options: Partial<OpenOptions> = {}, waitMs = 5_000): Promise<Database> {
    const db = await openDatabase({
      ...{ dataDir: '', databaseUrl: primary.url, replica: { url: replica.url, waitMs }, clock: systemClock },
      ...{ serving: true, slowProgram: SLOW_PROGRAM },
      ...options,
    })
    opened.push(db)
    return db
  }

  const newCaller = (): DatabaseCaller => ({ signal: new AbortController().signal, key: 1 })

  async function addName(db: Database): Promise<void> {
    names += 1
    await db.write((tx) =>
      tx
        .insert(tx.tables.names)
        .values({ text: `name ${names}` })
        .returning(),
    )
  }

  async function allOf(pieces: AsyncGenerator<Uint8Array>): Promise<string[]> {
    const texts: string[] = []
    for await (const piece of pieces) texts.push(new TextDecoder().decode(piece))
    return texts
  }

  /** A query, a task and a stream. */
  function readAll(db: Database, caller = newCaller()): Promise<string[]> {
    return onBehalfOf(caller, async () => [
      await readWhere(db.slow),
      await db.slowly(WHERE, {}),
      ...(await allOf(db.streamSlowly(WHERES, { pieces: 2 }))),
    ])
  }

  const from = (source: string) => Array(4).fill(`${source} ${names}`)
  const pause = (on: boolean) =>
    replica.do(async (sql) => void (await sql.unsafe(`SELECT pg_wal_replay_${on ? 'pause' : 'resume'}()`)))

  test('answers the reads of callers, who see what was written by anybody before', async () => {
    const db = await open()
    const other = await open({ replica: undefined })
    for (let round = 0; round < 20; round += 1) {
      await addName(round % 2 === 0 ? db : other)
      const caller = newCaller()
      expect(await readAll(db, caller)).toEqual(from('replica'))
      expect(caller.readFrom).toBe('replica')
    }
    expect(await db.replica!()).toBe('used')
  })

  test('is not asked by jobs, which have no caller', async () => {
    const db = await open()
    expect([await readWhere(db.slow), await db.slowly(WHERE, {})]).toEqual(Array(2).fill(`primary ${names}`))
  })

  test('that lags leaves its reads to the primary, until it has caught up', async () => {
    const states: ReplicaState[] = []
    const db = await open({ onReplica: (state) => states.push(state) }, 50)
    await pause(true)
    try {
      await addName(db)
      const caller = newCaller()
      expect(await readAll(db, caller)).toEqual(from('primary'))
      expect(caller.readFrom).toBe('primary')
      expect(await db.replica!()).toBe('lagging')
    } finally {
      await pause(false)
    }
    await until(() => states.at(-1) === 'used')
    await until(async () => (await readAll(db)).every((read) => read === `replica ${names}`))
    expect(states).toEqual(['lagging', 'used'])
  })

  test('that is lost leaves its reads to the primary, and answers again when it is back', async () => {
    const db = await open()
    expect(await readAll(db)).toEqual(from('replica'))
    await replica.crash()
    await addName(db)
    expect(await readAll(db)).toEqual(from('primary'))
    expect(await db.replica!()).toBe('unreachable')
    await replica.start()
    await until(async () => (await readAll(db)).every((read) => read === `replica ${names}`))
  })

  test('that is not there when the server starts does not keep it from starting', async () => {
    const db = await open({ replica: { url: 'postgres://tally@127.0.0.1:9/postgres', waitMs: 100 } })
    expect(await readAll(db)).toEqual(from('primary'))
    expect(await db.replica!()).toBe('unreachable')
  })

  test('whose query is in the way of a change is replaced by the primary', async () => {
    const db = await open()
    await primary.do(async (sql) => void (await sql.unsafe('CREATE TABLE emptied (id int)')))
    const caller = newCaller()
    const query = onBehalfOf(caller, () =>
      db.slow
        .raw<{ where: string }>({
          toSQL: () => ({
            sql: `SELECT CASE WHEN pg_is_in_recovery() THEN (SELECT 'waited' FROM pg_sleep(30), (SELECT count(*) FROM emptied) AS one)
            ELSE 'primary' END AS where`,
            params: [],
          }),
        })
        .execute(),
    )
    await replica.do(async (sql) => {
      await until(async () => (await sql`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`).length === 1)
    })
    await primary.do(async (sql) => void (await sql.unsafe('TRUNCATE emptied')))
    expect(await query).toEqual([{ where: 'primary' }])
    expect(caller.readFrom).toBe('primary')
    expect(await readAll(db)).toEqual(from('replica'))
  })

  test('must be one of the primary', async () => {
    const stranger = new Member(folder, 'stranger')
    await stranger.create()
    try {
      for (const url of [stranger.url, primary.url]) {
        await expect(open({ replica: { url, waitMs: 100 } })).rejects.toThrow(
          /is not a replica of the primary\. Check --database-read-url/,
        )
      }
    } finally {
      await stranger.crash()
    }
  })

  test('is named in the responses of a server and in its readiness', async () => {
    const installation = await Installation.brief({
      variables: {
        TALLY_DATABASE_URL: primary.url,
        TALLY_DATABASE_READ_URL: replica.url,
        TALLY_DATABASE_READ_WAIT: '5000',
      },
    })
    try {
      await installation.addUser('ada@example.com', 'admin')
      const { token } = await installation.createToken('read', 'ada@example.com')
      const server = await installation.serve()
      const get = (path: string) => fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
      expect(await (await get('/ready')).json()).toMatchObject({ status: 'ready', read_replica: 'used' })
      const report = await get('/api/v1/reports/usage?starting_at=2026-01-01T00:00:00Z')
      expect([report.status, report.headers.get('tally-read-from')]).toEqual([200, 'replica'])
      expect(await (await get('/metrics')).text()).toContain('tally_read_replica_used 1')
      await replica.crash()
      const primaryReport = await get('/api/v1/reports/usage?starting_at=2026-01-01T00:00:00Z')
      expect([primaryReport.status, primaryReport.headers.get('tally-read-from')]).toEqual([200, 'primary'])
      expect(await (await get('/ready')).json()).toMatchObject({ status: 'ready', read_replica: 'unreachable' })
      await server.stop()
    } finally {
      await replica.start()
      await installation.remove()
    }
  })
})
