/**
 * Copies of an embedded database. SQLite (`VACUUM INTO`) copies one moment of the database, even during writes; the
 * copy gets its name only when it is complete, verified and durable.
 */
import { Database as Connection } from 'bun:sqlite'
import { closeSync, fsyncSync, linkSync, openSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { numberFromAnywhere } from '../engines/sqlite/file-header.ts'
import { syncFolder } from '../engines/sqlite/log-file.ts'
import { makePrivateFile } from '../schema/migrate.ts'
import { WrongDatabase } from '../wrong-database.ts'
import { type Identity, newTimeline, readIdentity } from './identity.ts'
import { readName } from './names.ts'

export interface Copy {
  bytes: number
  /** The schema version, as migrations count. */
  version: number
  entries: number
}

/** Temporary name of an incomplete copy. Another process that writes to the same path has another. */
export const unfinishedName = (path: string) => `${path}.${process.pid}.unfinished`

const UNFINISHED = /^(.+)\.\d+\.unfinished(-journal)?$/

/** Removes an incomplete copy to which no thread of this process writes any more. */
export function removeUnfinished(path: string): void {
  for (const left of [unfinishedName(path), `${unfinishedName(path)}-journal`]) rmSync(left, { force: true })
}

/** What no process writes to for this long was left by one that was killed. */
const ABANDONED_MS = 86_400_000

/** Removes the incomplete copies of a database that were left in a folder for backups. */
export function removeAbandoned(folder: string, { timeline }: Pick<Identity, 'timeline'>, now: number): void {
  for (const name of readdirSync(folder)) {
    const [, backup = ''] = UNFINISHED.exec(name) ?? []
    if (readName(backup)?.timeline !== timeline) continue
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? { mtimeMs: now }
    if (now - mtimeMs > ABANDONED_MS) rmSync(join(folder, name), { force: true })
  }
}

/**
 * Copies the database of a connection to a path that must not exist. Throws if something exists there, if space is
 * missing, or if the copy is damaged, which means that the database is.
 *
 * @param backedUpAt when the backup is made; null for the database that goes on, on a timeline of its own
 */
export function copyWhole(reading: Connection, path: string, backedUpAt: number | null): Copy {
  const unfinished = unfinishedName(path)
  removeUnfinished(path)
  requireSpace(reading, path)
  try {
    makePrivateFile(unfinished)
    reading.run('VACUUM INTO ?', [unfinished])
    stamp(unfinished, backedUpAt)
    const copy = identify(unfinished)
    requireIntact(unfinished)
    const file = openSync(unfinished, 'r+')
    fsyncSync(file)
    closeSync(file)
    // A link fails if the name exists; a rename would replace it.
    linkSync(unfinished, path)
    syncFolder(dirname(path))
    return copy
  } finally {
    removeUnfinished(path)
  }
}

/** Says in a copy what it is. */
function stamp(path: string, backedUpAt: number | null): void {
  const connection = new Connection(path, { readwrite: true, create: false })
  try {
    // Nobody needs half of a copy.
    connection.run('PRAGMA journal_mode = OFF')
    numberFromAnywhere(connection)
    const identity = readIdentity(connection)
    if (!identity) return
    const timeline = backedUpAt === null ? newTimeline() : identity.timeline
    connection.run('UPDATE backup_timeline SET timeline = ?, backed_up_at = ?', [timeline, backedUpAt])
  } finally {
    connection.close()
  }
}

/** The content of a Tally database file. Throws {@link WrongDatabase} for any other file. */
export function identify(path: string): Copy {
  const connection = openExisting(path)
  try {
    if (!connection.query("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get()) {
      throw new WrongDatabase(`${path} is empty: it contains no database of Tally.`)
    }
    const { version } = connection
      .query<{ version: number | null }, []>('SELECT max(version) AS version FROM migrations')
      .get()!
    const { entries } = connection.query<{ entries: number }, []>('SELECT count(*) AS entries FROM entries').get()!
    return { bytes: statSync(path).size, version: version ?? 0, entries }
  } finally {
    connection.close()
  }
}

/** Reads the whole file. Throws {@link WrongDatabase} if it is damaged. */
export function requireIntact(path: string): void {
  const connection = openExisting(path)
  try {
    const pages = connection.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()!
    if (pages.integrity_check !== 'ok') throw new WrongDatabase(`${path} is corrupt: ${pages.integrity_check}.`)
    const missing = connection.query<{ table: string; parent: string }, []>('PRAGMA foreign_key_check').get()
    if (missing) {
      throw new WrongDatabase(`${path} is corrupt: ${missing.table} refers to missing rows of ${missing.parent}.`)
    }
  } finally {
    connection.close()
  }
}

function openExisting(path: string): Connection {
  let connection: Connection | undefined
  try {
    connection = new Connection(path, { readonly: true })
    connection.query('SELECT count(*) FROM sqlite_schema').get()
    return connection
  } catch (error) {
    connection?.close()
    const { code = '', message } = error as { code?: string; message: string }
    if (code === 'SQLITE_NOTADB') throw new WrongDatabase(`${path} is not a SQLite database.`)
    throw new WrongDatabase(`${path} cannot be read (${message}).`)
  }
}

/** Upper limit for the size of the copy. */
export function sizeOf(reading: Connection): number {
  const { pages } = reading.query<{ pages: number }, []>('SELECT page_count AS pages FROM pragma_page_count').get()!
  const { size } = reading.query<{ size: number }, []>('SELECT page_size AS size FROM pragma_page_size').get()!
  return pages * size
}

function requireSpace(reading: Connection, path: string): void {
  const folder = dirname(path)
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const needed = sizeOf(reading)
  if (free >= needed) return
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`
  const message = `Not enough disk space: ${folder} has ${megabytes(free)} free, and the copy may need ${megabytes(needed)}. Free some, or choose another folder.`
  // As the system says it once the disk is full.
  throw Object.assign(new Error(message), { code: 'ENOSPC' })
}
