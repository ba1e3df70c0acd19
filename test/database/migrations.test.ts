import { Database as Connection } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS, type Migration } from '../../migrations/index.ts'
import { DATABASE_FILE, openDatabase } from '../../src/database/open.ts'
import { WrongDatabase } from '../../src/database/wrong-database.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { canOverlap, forEachEngine, type Location, newLocation, rowsAt } from '../support/databases.ts'
import { EXPANDING, inManyProcesses, migrateAt, NEXT, PROCESSES } from '../support/other-process.ts'
import { clientFor } from '../support/postgres-server.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const NEWEST = MIGRATIONS.at(-1)!.version
const UPGRADED = [...MIGRATIONS, NEXT]
const NOTHING = { sqlite: 'SELECT 1', postgres: 'SELECT 1' }

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

/** Everything that a migration can change: the names of tables and columns, and the rows that migrations insert. */
async function stateOf(location: Location): Promise<unknown> {
  const schema = location.databaseUrl
    ? 'SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2'
    : 'SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2'
  return [
    await rowsAt(location, schema),
    await rowsAt(location, 'SELECT * FROM migrations ORDER BY version'),
    await rowsAt(location, 'SELECT text FROM names ORDER BY 1'),
  ]
}

async function insertName(location: Location, text: string): Promise<void> {
  await rowsAt(location, `INSERT INTO names (text) VALUES ('${text}') RETURNING id`)
}

forEachEngine('migrations', (_, engine) => {
  const open = (location: Location) => openDatabase({ ...location, clock: { now: () => NOW } })

  test('a new database gets every migration, in order', async () => {
    const location = await newLocation(engine, cleanUps)
    await (await open(location)).close()
    const applied = await rowsAt(location, 'SELECT version, name, applied_at FROM migrations ORDER BY version')
    expect(applied.map((row) => [Number(row.version), row.name, Number(row.applied_at)])).toEqual(
      MIGRATIONS.map(({ version, name }) => [version, name, NOW]),
    )
  })

  test('opening a database again changes nothing', async () => {
    const location = await newLocation(engine, cleanUps)
    await (await open(location)).close()
    await insertName(location, 'kept')
    const before = await stateOf(location)
    await (await openDatabase({ ...location, clock: systemClock })).close()
    expect(await stateOf(location)).toEqual(before)
  })

  test('only missing migrations are applied to an older database', async () => {
    const location = await newLocation(engine, cleanUps)
    await migrateAt(location, MIGRATIONS, NOW)
    await insertName(location, 'kept')
    await migrateAt(location, UPGRADED, NOW + 1)
    const applied = await rowsAt(location, 'SELECT version, applied_at FROM migrations ORDER BY version')
    expect(applied.map((row) => [Number(row.version), Number(row.applied_at)])).toEqual([
      ...MIGRATIONS.map(({ version }) => [version, NOW]),
      [NEXT.version, NOW + 1],
    ])
    expect(await rowsAt(location, 'SELECT text FROM names')).toEqual([{ text: 'kept' }])
    expect(await rowsAt(location, 'SELECT * FROM next')).toHaveLength(1)
  })

  test('of tickets and sessions of 0.2.0 only what is known of them stays certain', async () => {
    const location = await newLocation(engine, cleanUps)
    await migrateAt(
      location,
      MIGRATIONS.filter(({ version }) => version < 8),
    )
    const [t, f] = engine === 'sqlite' ? ['1', '0'] : ['true', 'false']
    const id = (hex: string) => (engine === 'sqlite' ? `x'${hex.padStart(32, '0')}'` : `'\\x${hex.padStart(32, '0')}'`)
    const hash = (hex: string) =>
      engine === 'sqlite' ? `x'${hex.padStart(64, '0')}'` : `'\\x${hex.padStart(64, '0')}'`
    const entry = (n: number, { manager = 1, token = 1, project = 'NULL', ticket = 'NULL', session = 'NULL' }) =>
      `INSERT INTO entries (id, uid, manager_id, token_id, source, status, harness_id, agent_id, model_id, started_at,
         ended_at, input, output, cache_read, cache_write, cache_write_1h, project_id, ticket_id, placed_by, session_id,
         chain_model_id, part, created_at)
       VALUES (${n}, ${id(`e${n}`)}, ${manager}, ${token}, 'report', 'submitted', 1, 1, 1, 0, 0, 1, 1, 0, 0, 0,
         ${project}, ${ticket}, ${ticket === 'NULL' ? 'NULL' : `'named'`}, ${session},
         ${session === 'NULL' ? 'NULL, NULL' : '1, 1'}, 0)`
    for (const statement of [
      ...[1, 2].map(
        (n) =>
          `INSERT INTO users (id, uid, email, name, role, created_at) VALUES (${n}, ${id(`a${n}`)}, '${n}@x', 'x', 'admin', 0)`,
      ),
      `INSERT INTO tokens (id, uid, kind, name, hash, hint, created_by, created_at) VALUES (1, ${id('b1')}, 'svc', 'x', ${hash('1')}, 'x', 1, 0)`,
      `INSERT INTO tokens (id, uid, kind, name, hash, hint, created_by, created_at) VALUES (2, ${id('b2')}, 'org', 'x', ${hash('2')}, 'x', 1, 0)`,
      `INSERT INTO projects (id, uid, key, name, created_at) VALUES (1, ${id('c1')}, 'ACME', 'ACME', 0)`,
      ...['DECIDED-1', 'ASSUMED-1', 'LOOSE-1', 'UNUSED-1', 'FOUND-1', 'PLACED-1'].map(
        (key, n) =>
          `INSERT INTO tickets (id, uid, key, key_folded, project_id, created_at) VALUES (${n + 1}, ${id(`ab${n + 1}`)}, '${key}', '${key}', ${key === 'LOOSE-1' ? 'NULL' : 1}, 0)`,
      ),
      `INSERT INTO audit (at, user_id, origin, action, object_id) VALUES (0, 1, 'x', 'ticket.changed', 'tkt_${'ab1'.padStart(32, '0')}')`,
      `INSERT INTO names (id, text) VALUES (1, 'x')`,
      ...['reported', 'pushed', 'joined'].map(
        (key, n) =>
          `INSERT INTO sessions (id, session_key, harness_id, manager_id, source, contested) VALUES (${n + 1}, '${key}', 1, 1, '${n === 0 ? 'report' : 'log'}', ${n === 2 ? t : f})`,
      ),
      `INSERT INTO session_sources (session_id, chain_model_id, source, totals) VALUES (3, 1, 'report', '{}')`,
      entry(1, { project: '1', ticket: '1' }),
      entry(2, { project: '1', ticket: '2' }),
      entry(3, { manager: 2, project: '1', ticket: '2' }),
      entry(4, { ticket: '3' }),
      entry(5, { session: '1' }),
      entry(6, { token: 2, session: '2' }),
      entry(7, { token: 2, session: '3' }),
      entry(8, { project: '1', ticket: '5' }),
      entry(9, { project: '1', ticket: '6' }),
      ...[
        [8, 2, '1'],
        [9, 1, 'NULL'],
      ].map(
        ([entryId, user, token]) =>
          `INSERT INTO entry_history (entry_id, at, action, user_id, token_id, details)
           VALUES (${entryId}, 0, 'placed', ${user}, ${token}, '{"project":"x","because":"ticket_found_project"}')`,
      ),
    ]) {
      await rowsAt(location, statement)
    }
    await migrateAt(location, MIGRATIONS)
    const tickets = await rowsAt(location, 'SELECT key, project_id, reported FROM tickets ORDER BY id')
    expect(tickets.map((row) => [row.key, row.project_id === null ? null : Number(row.project_id)])).toEqual([
      ['DECIDED-1', 1],
      ['ASSUMED-1', null],
      ['LOOSE-1', null],
      ['UNUSED-1', 1],
      ['FOUND-1', null],
      ['PLACED-1', 1],
    ])
    const assumed = await rowsAt(location, 'SELECT * FROM ticket_assumptions ORDER BY ticket_id, user_id')
    expect(assumed.map(({ ticket_id, user_id, project_id }) => `${ticket_id} ${user_id} ${project_id}`)).toEqual([
      '2 1 1',
      '3 1 null',
      '5 2 1',
    ])
    const sessions = await rowsAt(location, 'SELECT session_key, unidentified FROM sessions ORDER BY id')
    expect(sessions.map((row) => [row.session_key, Boolean(Number(row.unidentified))])).toEqual([
      ['reported', false],
      ['pushed', true],
      ['joined', false],
    ])
  })

  test('a database to which a newer Tally has only added is opened, read and written', async () => {
    const location = await newLocation(engine, cleanUps)
    await migrateAt(location, [...MIGRATIONS, EXPANDING])
    const db = await open(location)
    await db.write((tx) => tx.insert(tx.tables.names).values({ text: 'written by the older one' }).returning())
    expect(await rowsAt(location, 'SELECT text FROM names')).toEqual([{ text: 'written by the older one' }])
    await db.close()
    // One that only adds again does not make the one before it compatible.
    const contracting = { ...NEXT, version: NEWEST + 2, sql: { sqlite: 'SELECT 1', postgres: 'SELECT 1' } }
    const again = { ...contracting, version: NEWEST + 3, compatibleFrom: NEWEST }
    await migrateAt(location, [...MIGRATIONS, EXPANDING, contracting, again])
    expect(await open(location).catch((error) => error)).toBeInstanceOf(WrongDatabase)
    await migrateAt(location, [...MIGRATIONS, EXPANDING, contracting])
  })

  test('an open database refuses to write after a newer Tally has changed what it uses', async () => {
    const location = await newLocation(engine, cleanUps)
    const db = await open(location)
    const insert = (text: string) => db.write((tx) => tx.insert(tx.tables.names).values({ text }).returning())
    await insert('before')
    await migrateAt(location, [...MIGRATIONS, EXPANDING])
    await insert('between')
    await migrateAt(location, [...MIGRATIONS, EXPANDING, { ...NEXT, version: NEWEST + 2, sql: NOTHING }])
    expect(await insert('after').catch((error) => error)).toMatchObject({ code: 'database_upgraded', status: 503 })
    const set = db.setWriter<string, string>(async (tx, texts) => {
      await tx.insertAll(
        tx.tables.names,
        texts.map((text) => ({ text })),
      )
      return texts.map((value) => ({ value }))
    })
    expect(await set(['one', 'other'])).toEqual([
      { error: expect.objectContaining({ code: 'database_upgraded' }) },
      { error: expect.objectContaining({ code: 'database_upgraded' }) },
    ])
    expect(await rowsAt(location, 'SELECT text FROM names ORDER BY id')).toEqual([
      { text: 'before' },
      { text: 'between' },
    ])
    await db.close()
  })

  test('a database that a newer Tally migrated is refused and left alone', async () => {
    const location = await newLocation(engine, cleanUps)
    await migrateAt(location, UPGRADED)
    const before = await stateOf(location)
    const refusal = await open(location).catch((error) => error)
    expect(refusal).toBeInstanceOf(WrongDatabase)
    expect(refusal.message).toContain(
      `has schema version ${NEXT.version}, but this version of tally supports only up to ${NEWEST}`,
    )
    expect(await stateOf(location)).toEqual(before)
  })

  test('a migration that fails in its middle leaves everything as it was', async () => {
    const location = await newLocation(engine, cleanUps)
    await migrateAt(location, MIGRATIONS)
    await insertName(location, 'kept')
    const before = await stateOf(location)
    const statements =
      "ALTER TABLE names ADD COLUMN extra TEXT; UPDATE names SET text = 'lost'; INSERT INTO nowhere VALUES ('x');"
    const failing: Migration = {
      version: NEXT.version + 1,
      name: 'failing',
      sql: { sqlite: statements, postgres: statements },
    }
    const failure = await migrateAt(location, [...UPGRADED, failing]).catch((error) => error)
    expect(String(failure)).toContain('nowhere')
    expect(await stateOf(location)).toEqual(before)
    await (await open(location)).close()
  })

  test('a migration that leaves rows that refer to nothing is refused', async () => {
    const location = await newLocation(engine, cleanUps)
    await migrateAt(location, MIGRATIONS)
    await insertName(location, 'first')
    await rowsAt(location, "INSERT INTO names (text, canonical_id) VALUES ('second', 1) RETURNING id")
    const statements = "UPDATE names SET canonical_id = 3 WHERE text = 'second';"
    const orphaning = { version: NEWEST + 1, name: 'orphaning', sql: { sqlite: statements, postgres: statements } }
    expect(await migrateAt(location, [...MIGRATIONS, orphaning]).catch(() => 'refused')).toBe('refused')
    expect(await rowsAt(location, 'SELECT text FROM names')).toHaveLength(2)
  })

  test.skipIf(!canOverlap(engine))('processes that start at once make one database', async () => {
    const location = await newLocation(engine, cleanUps)
    expect(await inManyProcesses('open', location)).toEqual(Array(PROCESSES).fill(''))
    expect(await rowsAt(location, 'SELECT version FROM migrations')).toHaveLength(MIGRATIONS.length)
    expect(await rowsAt(location, 'SELECT id FROM organization')).toHaveLength(1)
  })

  test.skipIf(!canOverlap(engine))('processes that start at once upgrade a database once', async () => {
    const location = await newLocation(engine, cleanUps)
    await migrateAt(location, MIGRATIONS)
    expect(await inManyProcesses('upgrade', location)).toEqual(Array(PROCESSES).fill(''))
    expect(await rowsAt(location, 'SELECT * FROM next')).toHaveLength(1)
  })
})

describe('migrations of a SQLite file', () => {
  function newFolder(): Location & { path: string } {
    const dataDir = mkdtempSync(join(tmpdir(), 'tally-test-'))
    cleanUps.push(async () => rmSync(dataDir, { recursive: true }))
    return { dataDir, path: join(dataDir, DATABASE_FILE) }
  }

  async function refusalOf(location: Location): Promise<string> {
    const refusal = await openDatabase({ ...location, clock: systemClock }).catch((error) => error)
    expect(refusal).toBeInstanceOf(WrongDatabase)
    return refusal.message
  }

  test('a SQLite file of another program is refused and not changed by a byte', async () => {
    const { dataDir, path } = newFolder()
    const foreign = new Connection(path)
    foreign.run('CREATE TABLE migrations (version INTEGER PRIMARY KEY)')
    foreign.close(true)
    const before = readFileSync(path)
    expect(await refusalOf({ dataDir })).toBe(
      `${path} is a SQLite database of another program. Choose another folder with --data.`,
    )
    expect(readFileSync(path)).toEqual(before)
    expect(readdirSync(dataDir)).toEqual([DATABASE_FILE])
  })

  test('a file that is not a database is refused and not changed', async () => {
    const { dataDir, path } = newFolder()
    const letter = 'Dear Ada, the database is in the other folder.\n'.repeat(100)
    writeFileSync(path, letter)
    expect(await refusalOf({ dataDir })).toBe(
      `${path} is not a SQLite database, or is damaged. Choose another folder with --data, or restore a backup with \`tally restore --replace\`.`,
    )
    expect(readFileSync(path, 'utf8')).toBe(letter)
  })

  test('a file that cannot be opened is named with the reason', async () => {
    const { dataDir, path } = newFolder()
    mkdirSync(path)
    expect(await refusalOf({ dataDir })).toStartWith(`${path} cannot be opened for writing (`)
  })

  test('a folder that cannot be created is named with the reason', async () => {
    const { dataDir } = newFolder()
    writeFileSync(join(dataDir, 'file'), '')
    expect(await refusalOf({ dataDir: join(dataDir, 'file', 'below') })).toContain('cannot be created (')
  })

  test('an empty file is refused and stays empty', async () => {
    const { dataDir, path } = newFolder()
    writeFileSync(path, '')
    expect(await refusalOf({ dataDir })).toStartWith(`${path} is empty. Restore a backup`)
    expect(readFileSync(path)).toHaveLength(0)
    expect(readdirSync(dataDir)).toEqual([DATABASE_FILE])
  })

  test('an older file is copied as it was before it is upgraded', async () => {
    const { dataDir, path } = newFolder()
    await migrateAt({ dataDir }, MIGRATIONS)
    await insertName({ dataDir }, 'before the upgrade')
    const before = await stateOf({ dataDir })
    await migrateAt({ dataDir }, UPGRADED)

    const copy = `${path}.before-upgrade-from-${NEWEST}`
    const restored = newFolder()
    writeFileSync(restored.path, readFileSync(copy))
    expect(await stateOf(restored)).toEqual(before)
    await (await openDatabase({ ...restored, clock: systemClock })).close()
  })

  test('a later attempt to upgrade copies what was written since the first', async () => {
    const { dataDir, path } = newFolder()
    await migrateAt({ dataDir }, MIGRATIONS)
    const failing = { version: NEWEST + 1, name: 'failing', sql: { sqlite: 'SELECT nothing', postgres: '' } }
    await migrateAt({ dataDir }, [...MIGRATIONS, failing]).catch(() => undefined)
    await insertName({ dataDir }, 'written since')
    await migrateAt({ dataDir }, UPGRADED)

    const copy = new Connection(`${path}.before-upgrade-from-${NEWEST}`, { readonly: true })
    expect(copy.query('SELECT text FROM names').all()).toEqual([{ text: 'written since' }])
    copy.close()
  })

  test('a new file and an up-to-date one are not copied', async () => {
    const { dataDir } = newFolder()
    await migrateAt({ dataDir }, MIGRATIONS)
    await migrateAt({ dataDir }, MIGRATIONS)
    expect(readdirSync(dataDir).filter((name) => name.includes('upgrade'))).toEqual([])
  })

  test('a rebuild of a table keeps the rows that refer to it', async () => {
    const { dataDir } = newFolder()
    await migrateAt({ dataDir }, MIGRATIONS)
    await rowsAt({ dataDir }, "INSERT INTO label_sets (labels) VALUES ('{}') RETURNING id")
    await rowsAt({ dataDir }, "INSERT INTO label_pairs VALUES ('branch', 'main', 1) RETURNING 1")
    const sqlite = `
      CREATE TABLE rebuilt (id INTEGER PRIMARY KEY, labels TEXT NOT NULL UNIQUE, extra TEXT) STRICT;
      INSERT INTO rebuilt SELECT id, labels, 'new' FROM label_sets;
      DROP TABLE label_sets;
      ALTER TABLE rebuilt RENAME TO label_sets;`
    await migrateAt({ dataDir }, [
      ...MIGRATIONS,
      { version: NEWEST + 1, name: 'rebuild', sql: { sqlite, postgres: '' } },
    ])
    expect(await rowsAt({ dataDir }, 'SELECT extra FROM label_pairs JOIN label_sets ON id = label_set_id')).toEqual([
      { extra: 'new' },
    ])
    expect(existsSync(join(dataDir, `${DATABASE_FILE}.before-upgrade-from-${NEWEST}`))).toBe(true)
  })
})

describe('migrations of a PostgreSQL database', () => {
  async function refusalOf(databaseUrl: string): Promise<string> {
    const refusal = await openDatabase({ dataDir: '', databaseUrl, clock: systemClock }).catch((error) => error)
    expect(refusal).toBeInstanceOf(WrongDatabase)
    return refusal.message
  }

  test.skipIf(!canOverlap('postgres'))(
    'one that only adds does not make others wait for the locks that it waits for',
    async () => {
      const location = await newLocation('postgres', cleanUps)
      await migrateAt(location, MIGRATIONS)
      const [report, other] = [clientFor(location.databaseUrl!), clientFor(location.databaseUrl!)]
      cleanUps.push(async () => void (await Promise.all([report.end(), other.end()])))
      await report.unsafe("BEGIN; INSERT INTO names (text) VALUES ('reported')")
      const sql = { ...NOTHING, postgres: 'ALTER TABLE names ADD COLUMN extra text' }
      const migrating = migrateAt(location, [...MIGRATIONS, { ...EXPANDING, sql }])
      const waits = () => other`SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'`
      while ((await waits()).length === 0) await Bun.sleep(10)
      // It would wait for the migration as long as the report is not done.
      await other`SELECT FROM names`
      await report.unsafe('COMMIT')
      await migrating
      expect(await rowsAt(location, 'SELECT text, extra FROM names')).toEqual([{ text: 'reported', extra: null }])
    },
  )

  test.skipIf(!canOverlap('postgres'))(
    'an index is created while reports are written, also if an earlier attempt was interrupted',
    async () => {
      const location = await newLocation('postgres', cleanUps)
      await migrateAt(location, MIGRATIONS)
      const report = clientFor(location.databaseUrl!)
      cleanUps.push(async () => void (await report.end()))
      // What is left of an attempt that ends in its middle has the name, and serves nothing.
      await rowsAt(location, 'CREATE INDEX names_by_length ON names (length(text))')
      await rowsAt(location, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'names_by_length'::regclass")
      const sql = { ...NOTHING, postgres: 'CREATE INDEX CONCURRENTLY names_by_length ON names (length(text));' }
      await report.unsafe("BEGIN; INSERT INTO names (text) VALUES ('first')")
      const migrating = Promise.all(
        Array.from({ length: 3 }, () => migrateAt(location, [...MIGRATIONS, { ...EXPANDING, sql }])),
      )
      const waits = () =>
        rowsAt(
          location,
          "SELECT FROM pg_stat_activity WHERE query LIKE '%INDEX CONCURRENTLY %' AND wait_event_type = 'Lock'",
        )
      while ((await waits()).length === 0) await Bun.sleep(10)
      await rowsAt(location, "INSERT INTO names (text) VALUES ('second')")
      await report.unsafe('COMMIT')
      await migrating
      const valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'names_by_length'::regclass"
      expect(await rowsAt(location, valid)).toEqual([{ indisvalid: true }])
      expect(await rowsAt(location, `SELECT FROM migrations WHERE version = ${NEWEST + 1}`)).toHaveLength(1)
    },
  )

  test('a database with tables of another program is refused, though one is called migrations', async () => {
    const location = await newLocation('postgres', cleanUps)
    await rowsAt(location, 'CREATE TABLE migrations (id integer, migration text, batch integer)')
    expect(await refusalOf(location.databaseUrl!)).toContain('contains tables of another program')
    expect(await rowsAt(location, 'SELECT * FROM migrations')).toEqual([])
  })

  test.skipIf(!canOverlap('postgres'))('a database that does not exist is named', async () => {
    const { databaseUrl } = await newLocation('postgres', cleanUps)
    const missing = new URL(databaseUrl!)
    missing.pathname = '/no_such_database'
    expect(await refusalOf(missing.href)).toContain(
      '/no_such_database rejected the connection: database "no_such_database" does not exist',
    )
  })

  test('a URL that is none is refused with a hint at what must be escaped', async () => {
    expect(await refusalOf('postgres://tally:pass#word@host/tally')).toContain('--database-url is not a valid URL')
  })

  test('a server that does not answer is a problem that passes', async () => {
    const opening = openDatabase({
      dataDir: '',
      databaseUrl: 'postgres://tally@127.0.0.1:1/tally',
      clock: systemClock,
    })
    expect(await opening.catch((error) => error)).toMatchObject({ code: 'database_unreachable', status: 503 })
  })
})
