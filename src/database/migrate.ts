/**
 * Brings a SQLite file to the newest version, once, however many processes start at the same time.
 *
 * Foreign keys are switched off before BEGIN (inside a transaction the pragma does nothing, and a table rebuild would
 * cascade) and checked before COMMIT. An older file is copied beside itself first.
 */
import { Database as Connection } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { MIGRATIONS, type Migration } from '../../migrations/index.ts'
import { APPLICATION_ID, configureConnection } from './sqlite.ts'

/** A database that this program must not touch. The message tells the person at the command line what to do. */
export class WrongDatabase extends Error {}

/** Longer than any migration of a large file should make the second of two starting processes wait. */
const LOCK_TIMEOUT_MS = 60_000

export function newestVersion(): number {
  return MIGRATIONS.at(-1)!.version
}

/** What to say of a database that a newer Tally has written. */
export function newerDatabase(where: string, version: number): WrongDatabase {
  return new WrongDatabase(
    `${where} has schema version ${version}; this tally knows up to ${newestVersion()}. Use the newer tally that wrote it, or restore a copy made before the upgrade.`,
  )
}

/**
 * Creates the file where there is none, and applies what is missing.
 * Throws {@link WrongDatabase} for a file that is not Tally's or that a newer Tally has migrated.
 */
export function migrateSqlite(path: string, now: number): void {
  const connection = new Connection(path, { readwrite: true, create: true })
  try {
    configureConnection(connection, LOCK_TIMEOUT_MS)
    refuseForeignFile(connection, path)
    if (!existsSync(`${path}-wal`)) connection.run('PRAGMA journal_mode = WAL')
    connection.run('PRAGMA foreign_keys = OFF')
    const before = versionOf(connection)
    if (before > newestVersion()) throw newerDatabase(path, before)
    if (before === newestVersion()) return
    if (before > 0) copyBeside(connection, path, before)
    connection.run('BEGIN IMMEDIATE')
    try {
      // Again, now that the lock is held: another process may have done it meanwhile.
      for (const migration of MIGRATIONS.filter(({ version }) => version > versionOf(connection))) {
        apply(connection, migration, now)
      }
      const broken = connection.query('PRAGMA foreign_key_check').all()
      if (broken.length > 0) throw new Error(`The migration left ${broken.length} rows that refer to nothing`)
      connection.run('COMMIT')
    } catch (error) {
      if (connection.inTransaction) connection.run('ROLLBACK')
      throw error
    }
  } finally {
    connection.close()
  }
}

function apply(connection: Connection, { version, name, sql }: Migration, now: number): void {
  connection.run(
    'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  )
  connection.run(`PRAGMA application_id = ${APPLICATION_ID}`)
  connection.run(sql.sqlite)
  connection.run('INSERT INTO migrations VALUES (?, ?, ?)', [version, name, now])
}

function refuseForeignFile(connection: Connection, path: string): void {
  let id: number
  let tables: number
  try {
    id = connection.query<{ application_id: number }, []>('PRAGMA application_id').get()!.application_id
    tables = connection.query<{ count: number }, []>('SELECT count(*) AS count FROM sqlite_schema').get()!.count
  } catch (error) {
    throw new WrongDatabase(
      `${path} is not a SQLite database (${error instanceof Error ? error.message : error}). Name another folder with --data.`,
    )
  }
  if (id !== APPLICATION_ID && tables > 0) {
    throw new WrongDatabase(`${path} is a SQLite database of another program. Name another folder with --data.`)
  }
}

function versionOf(connection: Connection): number {
  const known = connection.query("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get()
  if (!known) return 0
  return (
    connection.query<{ version: number | null }, []>('SELECT max(version) AS version FROM migrations').get()!.version ??
    0
  )
}

function copyBeside(connection: Connection, path: string, version: number): void {
  const copy = `${path}.before-upgrade-from-${version}`
  if (!existsSync(copy)) connection.run('VACUUM INTO ?', [copy])
}
