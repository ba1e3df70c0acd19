/**
 * Through a real PgBouncer in transaction mode, whose pool is smaller than the number of Tally's connections: each
 * transaction may run on another connection to the server.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { asc, sql } from 'drizzle-orm'
import { onBehalfOf } from '../../src/database/caller.ts'
import type { Database, Reader, Tx } from '../../src/database/database.ts'
import { asProblem } from '../../src/database/errors.ts'
import { movedTables, openSide } from '../../src/database/move/move.ts'
import { openDatabase } from '../../src/database/open.ts'
import { emptyDemo } from '../../src/demo/removal.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type Location, locationOf, opener, startPostgres } from '../support/databases.ts'
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from '../support/pgbouncer.ts'
import { postgresPrograms } from '../support/postgres-programs.ts'
import { clientFor } from '../support/postgres-server.ts'

const missing =
  pgbouncerMissing() ??
  (postgresPrograms() && !process.env.TALLY_TEST_POSTGRES_URL ? undefined : 'PostgreSQL is not installed')

/** A server of Tally has fifteen connections. */
const SMALL_POOL = ['default_pool_size = 3']

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

const addName = (text: string) => (tx: Tx) => tx.insert(tx.tables.names).values({ text }).returning()

async function namesOf(reader: Reader): Promise<string[]> {
  const { names } = reader.tables
  return (await reader.select({ text: names.text }).from(names).orderBy(asc(names.text))).map(({ text }) => text)
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error) => error,
  )

/** One value of a query. */
async function valueIn(reader: Reader, expression: string): Promise<unknown> {
  const { revision } = reader.tables
  const [row] = await reader.select({ value: sql`${sql.raw(expression)}` }).from(revision)
  return row!.value
}

async function start(settings: readonly string[] = SMALL_POOL): Promise<PgBouncer> {
  const pgbouncer = await startPgBouncer((await startPostgres()).url, settings)
  cleanUps.push(() => pgbouncer.stop())
  return pgbouncer
}

function pooled(url: string): string {
  const address = new URL(url)
  address.searchParams.set('pgbouncer', 'true')
  return address.href
}

describe.skipIf(missing !== undefined)(`PgBouncer${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const openNew = opener('postgres')

  async function openThrough(databaseUrl: string, options: { slowDeadlineMs?: number } = {}): Promise<Database> {
    const db = await openDatabase({ dataDir: '', databaseUrl, clock: systemClock, ...options })
    cleanUps.push(() => db.close())
    return db
  }

  /** An empty database. */
  async function newDatabase(): Promise<Location> {
    const { url, admin } = await startPostgres()
    const name = `tally_test_${crypto.randomUUID().replaceAll('-', '')}`
    await admin.unsafe(`CREATE DATABASE ${name}`)
    cleanUps.push(async () => void (await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)))
    const databaseUrl = new URL(url)
    databaseUrl.pathname = `/${name}`
    return { dataDir: '', databaseUrl: databaseUrl.href }
  }

  test('two servers write and read at the same time, more than the pool has connections', async () => {
    const location = await newDatabase()
    const url = pooled((await start()).through(location.databaseUrl!))
    // The first one applies the migrations.
    const servers = [await openThrough(url), await openThrough(url)]
    const expected: string[] = []
    const texts = (kind: string, server: number) =>
      Array.from({ length: 60 }, (_, number) => {
        const text = `${kind} ${server} ${String(number).padStart(2, '0')}`
        expected.push(text)
        return text
      })
    await Promise.all(
      servers.flatMap((db, server) => {
        const write = db.setWriter<string, undefined>(async (tx, items) => {
          await tx.lockAll(() => [...items, 'shared'])
          await tx.findEach(
            'names by text',
            (reader) =>
              reader
                .select({ id: reader.tables.names.id })
                .from(reader.tables.names)
                .where(sql`${reader.tables.names.text} = ${sql.placeholder('text')}`),
            items.map((text) => ({ text })),
          )
          await tx.insertAll(
            tx.tables.names,
            items.map((text) => ({ text })),
          )
          return items.map(() => ({ value: undefined }))
        })
        return [
          ...texts('item', server).map((text) => write([text])),
          ...texts('body', server).map((text) => db.write(addName(text))),
          ...Array.from({ length: 20 }, () => db.read.revision()),
          ...Array.from({ length: 20 }, () => namesOf(db.slow)),
        ]
      }),
    )
    for (const db of servers) expect(await namesOf(db.read)).toEqual(expected.toSorted())
  })

  test('answers every one of many queries at the same time, with and without parameters', async () => {
    const db = await openThrough(pooled((await start()).through(locationOf(await openNew()).databaseUrl!)))
    await db.write(addName('there'))
    const { names } = db.read.tables
    const queries = Array.from({ length: 400 }, (_, number) =>
      number % 2 === 0
        ? db.read.select({ id: names.id }).from(names)
        : db.read.select({ id: names.id }).from(names).where(sql`${names.id} > ${-number}`),
    )
    const answers = await Promise.all(queries)
    expect(answers.filter((rows) => rows.length === 1)).toHaveLength(queries.length)
  })

  test('the settings of a transaction apply to it, and not to the next one on the connection', async () => {
    const url = pooled((await start(['default_pool_size = 1'])).through(locationOf(await openNew()).databaseUrl!))
    const db = await openThrough(url)
    const settings = `current_setting('lock_timeout') || ' ' || current_setting('idle_in_transaction_session_timeout')`
    expect(await db.write((tx) => valueIn(tx, settings))).toBe('5s 10s')
    expect(await valueIn(db.read, settings)).toBe('0 0')
    expect(await db.inOneState((reader) => valueIn(reader, settings))).toBe('0 0')
  })

  test('slow reads end at their deadline, and when nobody waits for them', async () => {
    const location = locationOf(await openNew())
    const db = await openThrough(pooled((await start()).through(location.databaseUrl!)), { slowDeadlineMs: 500 })
    const { admin } = await startPostgres()
    const sleeping = async () =>
      (
        await admin`SELECT 1 FROM pg_stat_activity WHERE datname = ${new URL(location.databaseUrl!).pathname.slice(1)}
        AND state = 'active' AND query LIKE '%pg_sleep%'`
      ).length
    const isGone = async () => {
      while ((await sleeping()) > 0) await Bun.sleep(20)
    }
    expect(await failureOf(valueIn(db.slow, 'pg_sleep(1000)'))).toMatchObject({ code: 'database_deadline' })
    await isGone()
    const patient = await openThrough(pooled((await start()).through(location.databaseUrl!)), {
      slowDeadlineMs: 600_000,
    })
    const caller = new AbortController()
    const abandoned = onBehalfOf({ key: 1, signal: caller.signal }, () =>
      failureOf(valueIn(patient.slow, 'pg_sleep(1000)')),
    )
    while ((await sleeping()) === 0) await Bun.sleep(20)
    caller.abort()
    expect(await abandoned).toMatchObject({ code: 'database_deadline' })
    await isGone()
  })

  test('a URL without pgbouncer=true is refused with what to do', async () => {
    const { databaseUrl } = locationOf(await openNew())
    const through = (await start()).through(databaseUrl!)
    const failure = await failureOf(openDatabase({ dataDir: '', databaseUrl: through, clock: systemClock }))
    expect(String(failure)).toContain('Add ?pgbouncer=true to --database-url')
  })

  test('so is one where the settings of connections are ignored', async () => {
    const { databaseUrl } = locationOf(await openNew())
    const ignored = 'lock_timeout, idle_in_transaction_session_timeout, statement_timeout'
    const through = (await start([`ignore_startup_parameters = ${ignored}`])).through(databaseUrl!)
    const failure = await failureOf(openDatabase({ dataDir: '', databaseUrl: through, clock: systemClock }))
    expect(String(failure)).toContain('Add ?pgbouncer=true to --database-url')
  })

  test('a prepared statement that another connection has is refused with what to do', () => {
    const error = Object.assign(new Error('prepared statement "p1" does not exist'), { code: '26000' })
    expect(asProblem(error)).toMatchObject({
      code: 'database_unreachable',
      detail: expect.stringContaining('Add ?pgbouncer=true to --database-url'),
    })
  })

  test('an upgrade of the schema is refused, as it needs a lock of a session', async () => {
    const location = locationOf(await openNew())
    const client = clientFor(location.databaseUrl!)
    await client`DELETE FROM migrations WHERE version = (SELECT max(version) FROM migrations)`
    await client.end()
    const url = pooled((await start()).through(location.databaseUrl!))
    const failure = await failureOf(openDatabase({ dataDir: '', databaseUrl: url, clock: systemClock }))
    expect(String(failure)).toContain('Run `tally verify` once with a direct connection')
  })

  test('what it does not support is refused with what to do instead', async () => {
    const { databaseUrl } = locationOf(await openNew())
    const url = new URL(pooled((await start()).through(databaseUrl!)))
    const demo = emptyDemo({ dataDir: '', databaseUrl: url.href, clock: systemClock, confirm: async () => {} })
    expect(String(await failureOf(demo))).toContain('Connect directly, without pgbouncer=true, to remove demo data.')
    const side = openSide({ dataDir: '', databaseUrl: url.href }, { tables: movedTables(), now: 0, creates: true })
    expect(String(await failureOf(side))).toContain('without pgbouncer=true, to move the database.')
    const replica = { url: url.href, waitMs: 100 }
    const reading = openDatabase({ dataDir: '', databaseUrl: databaseUrl!, replica, clock: systemClock })
    expect(String(await failureOf(reading))).toContain('without pgbouncer=true, to read from a replica.')
    url.searchParams.set('search_path', 'tally')
    const parameter = await failureOf(openDatabase({ dataDir: '', databaseUrl: url.href, clock: systemClock }))
    expect(String(parameter)).toContain('Remove the parameter from --database-url')
    url.searchParams.set('pgbouncer', 'yes')
    const other = await failureOf(openDatabase({ dataDir: '', databaseUrl: url.href, clock: systemClock }))
    expect(String(other)).toContain('Set it to true or false')
  })

  test('the servers of several poolers may be named, of which the one of the primary is used', async () => {
    const { databaseUrl } = locationOf(await openNew())
    const url = new URL((await start()).through(databaseUrl!))
    const db = await openThrough(`postgres://tally@${url.host},${url.host}${url.pathname}?pgbouncer=true`)
    await db.write(addName('there'))
    expect(await namesOf(db.read)).toEqual(['there'])
  })
})
