/**
 * Migrates a database to the newest version, once, even if many processes start at the same time: each locks the
 * database before it applies what is missing.
 */
import { Database as Connection } from 'bun:sqlite'
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import type { Sql } from 'postgres'
import { BASELINE, MIGRATIONS, type Migration } from '../../../migrations/index.ts'
import { requireUsable } from '../database-place.ts'
import { configureConnection } from '../engines/sqlite/connections.ts'
import { APPLICATION_ID, numberCommit, numberFromAnywhere } from '../engines/sqlite/file-header.ts'
import { databaseBusy, failureOf } from '../errors.ts'
import { WrongDatabase } from '../wrong-database.ts'
import { oldestSchemaAfter, recordOldestSchema } from './compatibility.ts'

/** Longer than any migration of a large database should take, while a second starting process waits. */
export const LOCK_TIMEOUT_MS = 60_000

const newestVersion = (migrations: Migration[]) => migrations.at(-1)!.version

/** The migration that adds the table of moves. */
const MOVES_VERSION = 43

/** Its triggers refuse the writes of migrations, and an unfinished copy lacks indexes that they expect. */
function refusedInMove(where: string): WrongDatabase {
  return new WrongDatabase(
    `${where} belongs to a move that an older version of Tally began. Finish or cancel it with that version.`,
  )
}

function refusedThroughPooler(where: string): WrongDatabase {
  return new WrongDatabase(
    `${where} is behind a pooler, through which its schema cannot be upgraded. Run \`tally verify\` once with a direct connection, without pgbouncer=true.`,
  )
}

/** What a database says of its schema. */
interface Schema {
  /** Of the last migration. */
  version: number
  /** The oldest version whose programs can use it; only read from a database that a newer Tally has migrated. */
  oldest: number
}

/** Throws {@link WrongDatabase} for a database that a newer Tally has migrated. */
export function refuseNewer(version: number, where: string, migrations = MIGRATIONS): void {
  if (version <= newestVersion(migrations)) return
  throw new WrongDatabase(
    `${where} has schema version ${version}, but this version of tally supports only up to ${newestVersion(migrations)}. Use the newer version, or restore a backup from before the upgrade.`,
  )
}

/** Throws {@link WrongDatabase} if a newer Tally has changed what this one uses. */
function missingFrom(migrations: Migration[], { version, oldest }: Schema, where: string): Migration[] {
  if (oldest > newestVersion(migrations)) refuseNewer(version, where, migrations)
  return migrations.filter((migration) => migration.version > version)
}

/**
 * Creates the file if it does not exist, and applies missing migrations. An older file is first copied to the same
 * folder.
 *
 * Foreign keys are switched off before BEGIN (inside a transaction the pragma does nothing, and a table rebuild would
 * cascade) and checked before COMMIT. Throws {@link WrongDatabase} for a file that is not Tally's, in which a newer Tally
 * has changed what this one uses, or that cannot be opened.
 */
export function migrateSqlite(path: string, now: number, migrations = MIGRATIONS): void {
  const connection = openOwnFile(path)
  try {
    // Without the lock, which is only needed at the first start after an upgrade.
    if (missingFrom(migrations, sqliteSchema(connection, migrations), path).length === 0) return
    connection.run('PRAGMA foreign_keys = OFF')
    connection.run('BEGIN IMMEDIATE')
    try {
      const schema = sqliteSchema(connection, migrations)
      const before = schema.version
      const missing = missingFrom(migrations, schema, path)
      if (missing.length > 0 && before >= MOVES_VERSION && connection.query('SELECT 1 FROM moves').get()) {
        throw refusedInMove(path)
      }
      if (before > 0 && missing.length > 0) copyToSameFolder(path, before)
      numberCommit(connection)
      applyAllToSqlite(connection, now, missing)
      const broken = connection.query('PRAGMA foreign_key_check').all()
      if (broken.length > 0) throw new Error(`The migration left ${broken.length} rows with broken references`)
      connection.run('COMMIT')
    } catch (error) {
      if (connection.inTransaction) connection.run('ROLLBACK')
      throw error
    }
  } finally {
    connection.close()
  }
}

/** The scripts that apply the migrations: for a new database, the baseline instead of those that it contains. */
function scriptsOf(migrations: Migration[]): { sql: Migration['sql']; applied: Migration[] }[] {
  const inBaseline = migrations.filter(({ version }) => version <= BASELINE.version)
  const isNew = inBaseline.length === BASELINE.version
  const others = isNew ? migrations.slice(inBaseline.length) : migrations
  return [
    ...(isNew ? [{ sql: BASELINE.sql, applied: inBaseline }] : []),
    ...others.map((migration) => ({ sql: migration.sql, applied: [migration] })),
  ]
}

/** Creates the schema of a new file within the caller's transaction, after the caller has removed the old one. */
export function applyAllToSqlite(connection: Connection, now: number, migrations = MIGRATIONS): void {
  connection.run(
    'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  )
  connection.run(`PRAGMA application_id = ${APPLICATION_ID}`)
  for (const { sql, applied } of scriptsOf(migrations)) {
    connection.run(sql.sqlite)
    for (const { version, name } of applied) {
      connection.run('INSERT INTO migrations VALUES (?, ?, ?)', [version, name, now])
    }
  }
  const record = recordOldestSchema(migrations)
  if (record) connection.run(record)
}

/** A connection to a new file or one of Tally's, in write-ahead mode. */
function openOwnFile(path: string): Connection {
  let connection: Connection | undefined
  try {
    requireUsable(path)
    if (!existsSync(path)) beginFile(path)
    connection = new Connection(path, { readwrite: true, create: false })
    configureConnection(connection, LOCK_TIMEOUT_MS)
    connection.run('PRAGMA journal_mode = WAL')
    return connection
  } catch (error) {
    connection?.close()
    throw asWrongFile(error, path)
  }
}

/** Under another name at first, as an empty file is refused. */
function beginFile(path: string): void {
  const unfinished = `${path}.${process.pid}.unfinished`
  try {
    rmSync(unfinished, { force: true })
    makePrivateFile(unfinished)
    const connection = new Connection(unfinished, { readwrite: true, create: true })
    try {
      // Nobody needs half of it, so one sync is enough.
      connection.run('PRAGMA journal_mode = OFF')
      connection.run('BEGIN')
      connection.run(`PRAGMA application_id = ${APPLICATION_ID}`)
      numberFromAnywhere(connection)
      connection.run('COMMIT')
    } finally {
      connection.close(true)
    }
    linkSync(unfinished, path)
  } catch (error) {
    // Another process may have created it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/**
 * SQLite treats an empty file as a new database, and keeps its permissions, which the log and the shared memory
 * inherit.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // Another process may have created it; SQLite reports any other error for the same path.
  }
}

const UNUSABLE_FILE = ['SQLITE_NOTADB', 'SQLITE_CANTOPEN', 'SQLITE_READONLY', 'SQLITE_PERM', 'EACCES', 'EPERM', 'EROFS']

/** {@link WrongDatabase} if the file is not Tally's or may not be written, otherwise the error itself. */
export function asWrongFile(error: unknown, path: string): unknown {
  const { code = '', message } = error as { code?: string; message: string }
  if (!UNUSABLE_FILE.some((unusable) => code.startsWith(unusable))) return error
  if (code === 'SQLITE_NOTADB')
    return new WrongDatabase(
      `${path} is not a SQLite database, or is damaged. Choose another folder with --data, or restore a backup with \`tally restore\`.`,
    )
  return new WrongDatabase(
    `${path} cannot be opened for writing (${message}). Check its owner and permissions, or choose another folder with --data.`,
  )
}

function sqliteSchema(connection: Connection, migrations: Migration[]): Schema {
  const first = <Row>(query: string) => connection.query<Row, []>(query).get()!
  if (!first("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'")) return { version: 0, oldest: 0 }
  const version = first<{ version: number | null }>('SELECT max(version) AS version FROM migrations').version ?? 0
  if (version <= newestVersion(migrations)) return { version, oldest: 0 }
  return { version, oldest: first<{ oldest: number }>('SELECT oldest_schema AS oldest FROM revision').oldest }
}

/**
 * The caller holds the write lock, so the copy is exactly the state before the upgrade. It replaces the copy of an
 * earlier attempt, and has a temporary name until it is complete and durable.
 */
function copyToSameFolder(path: string, version: number): void {
  const copy = `${path}.before-upgrade-from-${version}`
  const unfinished = `${copy}.unfinished`
  rmSync(unfinished, { force: true })
  const reading = new Connection(path, { readonly: true })
  try {
    makePrivateFile(unfinished)
    reading.run('VACUUM INTO ?', [unfinished])
    const writing = new Connection(unfinished, { readwrite: true, create: false })
    numberFromAnywhere(writing)
    writing.close(true)
    const file = openSync(unfinished, 'r+')
    fsyncSync(file)
    closeSync(file)
    renameSync(unfinished, copy)
  } finally {
    reading.close()
    rmSync(unfinished, { force: true })
  }
}

/** The name of Tally's connections in PostgreSQL. */
export const APPLICATION_NAME = 'tally'

/** 'TALY': the advisory lock of a migrating process. */
const ADVISORY_LOCK = APPLICATION_ID

/** The comment that identifies Tally's own table of migrations; other programs may use the same table name. */
const MARK = 'Tally'

/**
 * Applies what is missing in the first schema of the search path: one by one if servers of the version before can go on
 * using the database; otherwise all together or not at all, and those servers cannot write from then on.
 * Throws {@link WrongDatabase} for a database with tables of another program, or in which a newer Tally has changed what
 * this one uses.
 *
 * @param client of a single connection
 * @param where names the database in messages
 */
export async function migratePostgres(
  client: Sql,
  where: string,
  now: number,
  { migrations = MIGRATIONS, isPooled = false } = {},
): Promise<void> {
  const find = async () => {
    const schema = await postgresSchema(client, where, migrations)
    return { before: schema.version, missing: missingFrom(migrations, schema, where) }
  }
  // Without the lock, which another process may need for minutes to create an index.
  const found = await find()
  if (found.missing.length === 0) return
  if (isPooled) {
    if (found.before > 0) throw refusedThroughPooler(where)
    // A pooler keeps no lock of a session.
    await inTransaction(client, async () => {
      await client`SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`
      await applyAllToPostgres(client, now, (await find()).missing)
    })
    return
  }
  await whileMigrating(client, where, async () => {
    const { before, missing } = await find()
    if (missing.length > 0 && before >= MOVES_VERSION && (await client`SELECT 1 FROM moves`).length > 0) {
      throw refusedInMove(where)
    }
    if (oldestSchemaAfter(missing) <= before) {
      for (const migration of missing) await applyMeanwhile(client, migration, now)
    } else {
      await inTransaction(client, async () => {
        if (before > 0) await excludeOthers(client)
        await applyAllToPostgres(client, now, missing)
      })
    }
  })
}

/** Waits for the transactions of other servers, and later ones wait for this one: see `begin` in the writer. */
export async function excludeOthers(client: Sql): Promise<void> {
  await client`LOCK TABLE revision IN ACCESS EXCLUSIVE MODE`
}

/** Between two attempts to get a lock. */
const LOCK_RETRY_MS = 50

/**
 * Locks a key for the session, and returns false if others have it for longer. Asks again and again instead of waiting in
 * a query: that would have a snapshot, for the end of which CREATE INDEX CONCURRENTLY waits.
 *
 * @param client of a single connection
 */
export async function lockSession(client: Sql, key: number, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  const lock = () => client<[{ locked: boolean }]>`SELECT pg_try_advisory_lock(${key}) AS locked`
  while (!(await lock())[0].locked) {
    if (performance.now() > deadline) return false
    await Bun.sleep(LOCK_RETRY_MS)
  }
  return true
}

/** Runs `work` in one process at a time. */
export async function whileMigrating(client: Sql, where: string, work: () => Promise<void>): Promise<void> {
  if (!(await lockSession(client, ADVISORY_LOCK, LOCK_TIMEOUT_MS))) {
    throw databaseBusy(`${where} is being migrated by another process.`)
  }
  try {
    await work()
  } finally {
    // If the connection is lost, so is the lock, and the first error is the one to report.
    await client`SELECT pg_advisory_unlock(${ADVISORY_LOCK})`.catch(() => undefined)
  }
}

/**
 * What waits for a lock on a table makes all later queries of this table wait for it, too. Servers wait for five seconds
 * before they refuse a report.
 */
const SHORT_LOCK_TIMEOUT_MS = 1_000

/** Between two attempts, so that what waited in the meantime can run. */
const SHORT_LOCK_PAUSE_MS = 1_000

/** Applies a migration while servers of the version before use the database. */
async function applyMeanwhile(client: Sql, migration: Migration, now: number): Promise<void> {
  if (isConcurrent(migration)) return createIndexes(client, migration, now)
  const [{ oldest }] = await client<[{ oldest: string }]>`SELECT oldest_schema AS oldest FROM revision`
  const apply = async () => {
    // Servers of still older versions, which nobody should run any more.
    if (oldestSchemaAfter([migration]) > Number(oldest)) await excludeOthers(client)
    await applyAllToPostgres(client, now, [migration])
  }
  await withShortLocks(client, apply)
}

/**
 * Runs `work` in a transaction, again until it gets its locks at once.
 *
 * @param client of a single connection
 */
export async function withShortLocks(client: Sql, work: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS
  for (;;) {
    try {
      await inTransaction(client, work, SHORT_LOCK_TIMEOUT_MS)
      return
    } catch (error) {
      if (failureOf(error) !== 'busy' || performance.now() > deadline) throw error
    }
    await Bun.sleep(SHORT_LOCK_PAUSE_MS)
  }
}

/** Statements that create indexes without a lock that writers wait for. They cannot be in a transaction. */
const CONCURRENTLY = / CONCURRENTLY\b/g

const isConcurrent = ({ sql }: Migration) => sql.postgres.includes(' CONCURRENTLY ')

async function createIndexes(client: Sql, { version, name, sql }: Migration, now: number): Promise<void> {
  for (const [, index, table, columns] of sql.postgres.matchAll(/CREATE INDEX CONCURRENTLY (\w+) ON (\w+) ([^;]+)/g)) {
    const partitions = await client<{ partition: string }[]>`
      SELECT inhrelid::regclass::text AS partition FROM pg_inherits WHERE inhparent = ${table!}::regclass`
    if (partitions.length === 0) {
      await createIndex(client, index!, `${table} ${columns}`)
      continue
    }
    // One of all partitions is valid once theirs are attached. Those that an interrupted attempt has attached go with it.
    await client.unsafe(`DROP INDEX IF EXISTS ${index}; CREATE INDEX ${index} ON ONLY ${table} ${columns}`)
    for (const { partition } of partitions) {
      await createIndex(client, `${partition}_${index}`, `${partition} ${columns}`)
      await client.unsafe(`ALTER INDEX ${index} ATTACH PARTITION ${partition}_${index}`)
    }
  }
  await client`INSERT INTO migrations VALUES (${version}, ${name}, ${now})`
}

/** Anew, because what an interrupted attempt has left is invalid. */
async function createIndex(client: Sql, index: string, definition: string): Promise<void> {
  await client.unsafe(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`)
  await client.unsafe(`CREATE INDEX CONCURRENTLY ${index} ON ${definition}`)
}

/**
 * Runs `work` in a transaction that waits for locks as long as a migration may take. Not with postgres.js's own `begin`:
 * see engines/postgres/link.ts.
 *
 * @param client of a single connection
 */
export async function inTransaction(
  client: Sql,
  work: () => Promise<void>,
  lockTimeoutMs = LOCK_TIMEOUT_MS,
): Promise<void> {
  await client.unsafe(`BEGIN; SET LOCAL lock_timeout = ${lockTimeoutMs}`)
  try {
    await work()
    await client.unsafe('COMMIT')
  } catch (error) {
    // If the connection is lost, so is the transaction, and the first error is the one to report.
    await client.unsafe('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** Like {@link applyAllToSqlite}. */
export async function applyAllToPostgres(client: Sql, now: number, migrations = MIGRATIONS): Promise<void> {
  await client.unsafe(`
    CREATE TABLE IF NOT EXISTS migrations (version bigint PRIMARY KEY, name text COLLATE "C" NOT NULL, applied_at bigint NOT NULL);
    COMMENT ON TABLE migrations IS '${MARK}';`)
  for (const { sql, applied } of scriptsOf(migrations)) {
    await client.unsafe(sql.postgres.replaceAll(CONCURRENTLY, ''))
    await client`
      INSERT INTO migrations ${client(applied.map(({ version, name }) => ({ version, name, applied_at: now })))}`
  }
  const record = recordOldestSchema(migrations)
  if (record) await client.unsafe(record)
}

/** Whether the database is already Tally's. Throws if it belongs to another program. */
export async function isOwnSchema(client: Sql, where: string): Promise<boolean> {
  const [{ encoding }] = await client<[{ encoding: string }]>`SELECT current_setting('server_encoding') AS encoding`
  if (encoding !== 'UTF8') {
    throw new WrongDatabase(
      `${where} has the encoding ${encoding}, but Tally needs UTF8. Create a database with: createdb --encoding UTF8 --template template0 tally`,
    )
  }
  const tables = await client<{ name: string; comment: string | null }[]>`
    SELECT relname AS name, obj_description(oid, 'pg_class') AS comment
    FROM pg_class WHERE relnamespace = to_regnamespace(current_schema()) AND relkind IN ('r', 'p')`
  const own = tables.some(({ name, comment }) => name === 'migrations' && comment === MARK)
  if (!own && tables.length > 0) {
    throw new WrongDatabase(
      `${where} contains tables of another program. Create a database for Tally with: createdb tally`,
    )
  }
  return own
}

async function postgresSchema(client: Sql, where: string, migrations: Migration[]): Promise<Schema> {
  if (!(await isOwnSchema(client, where))) return { version: 0, oldest: 0 }
  const [newest] = await client<[{ version: string | null }]>`SELECT max(version) AS version FROM migrations`
  const version = Number(newest.version ?? 0)
  if (version <= newestVersion(migrations)) return { version, oldest: 0 }
  const [revision] = await client<[{ oldest: string }]>`SELECT oldest_schema AS oldest FROM revision`
  return { version, oldest: Number(revision.oldest) }
}
