/**
 * Copies of an embedded database. A copy is made by SQLite (`VACUUM INTO`) from one moment of the database, whoever writes meanwhile; it
 * has its name only when it is whole, checked and on the disk.
 */
import { Database as Connection } from 'bun:sqlite'
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../engines/sqlite/log-file.ts'
import { makePrivateFile, refuseForeignFile, WrongDatabase } from '../schema/migrate.ts'

export interface Copy {
  bytes: number
  /** Of the schema, as migrations count. */
  version: number
  entries: number
}

/** Temporary name of an incomplete copy. */
export const unfinishedName = (path: string) => `${path}.unfinished`

/**
 * Copies the database of a connection to a path where nothing is yet; what an earlier attempt left is taken away.
 * Throws where something is there already, space is missing, or the copy is damaged, which means that the database is.
 */
export function copyWhole(reading: Connection, path: string): Copy {
  const unfinished = unfinishedName(path)
  rmSync(unfinished, { force: true })
  requireSpace(reading, path)
  try {
    makePrivateFile(unfinished)
    reading.run('VACUUM INTO ?', [unfinished])
    const copy = identify(unfinished)
    requireSound(unfinished)
    const file = openSync(unfinished, 'r+')
    fsyncSync(file)
    closeSync(file)
    // A link, which fails where something is there, while a rename would replace it.
    linkSync(unfinished, path)
    syncFolder(dirname(path))
    return copy
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/** What a file of Tally's holds. Throws {@link WrongDatabase} for any other file. */
export function identify(path: string): Copy {
  const connection = openExisting(path)
  try {
    refuseForeignFile(connection, path)
    const { version } = connection
      .query<{ version: number | null }, []>('SELECT max(version) AS version FROM migrations')
      .get()!
    const { entries } = connection.query<{ entries: number }, []>('SELECT count(*) AS entries FROM entries').get()!
    return { bytes: statSync(path).size, version: version ?? 0, entries }
  } finally {
    connection.close()
  }
}

/** Reads all of it. */
function requireSound(path: string): void {
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
  throw new Error(
    `Not enough disk space: ${folder} has ${megabytes(free)} free, and the copy may need ${megabytes(needed)}.`,
  )
}
