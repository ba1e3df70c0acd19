/** Restores a backup of the embedded database. */
import { Database as Connection } from 'bun:sqlite'
import { chmodSync, existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../engines/sqlite/log-file.ts'
import { refuseNewer, WrongDatabase } from '../schema/migrate.ts'
import { type Copy, copyWhole, identify } from './copy.ts'

interface RestoreOptions {
  /** The backup. It is read only. */
  from: string
  /** The file of the database. */
  to: string
  /** Under this name the database that is there now is kept; undefined refuses where one is. */
  keepAs: string | undefined
}

/**
 * Throws {@link WrongDatabase} where the backup is not Tally's, of a newer Tally or damaged, where a database is there and is not to be
 * replaced, and where a process is using it. Nothing has changed then.
 */
export function restore({ from, to, keepAs }: RestoreOptions): Copy & { replaced: boolean } {
  const { version } = identify(from)
  refuseNewer(version, from)
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  const replaces = existsSync(to)
  if (replaces && keepAs === undefined) {
    throw new WrongDatabase(
      `${dirname(to)} already contains a database. Choose another folder with --data, or use --replace to replace it and keep a copy of it.`,
    )
  }
  if (replaces) requireUnused(to)
  const restored = `${to}.restored`
  rmSync(restored, { force: true })
  const reading = new Connection(from, { readonly: true })
  let copy: Copy
  try {
    copy = copyWhole(reading, restored)
  } finally {
    reading.close()
  }
  if (replaces) {
    requireUnused(to)
    // A second name first and then a rename, so that at no moment there is no database, of which a start would make a new one.
    linkSync(to, keepAs!)
    // It may be from a version that left this to the umask.
    chmodSync(keepAs!, 0o600)
  }
  renameSync(restored, to)
  syncFolder(dirname(to))
  return { ...copy, replaced: replaces }
}

/**
 * Throws where any process has the file open: only the last connection may leave write-ahead mode. It also takes into
 * the file what the log still holds, so that the file alone is the database.
 */
function requireUnused(path: string): void {
  const connection = new Connection(path, { readwrite: true, create: false })
  try {
    connection.run('PRAGMA busy_timeout = 0')
    const { journal_mode } = connection.query<{ journal_mode: string }, []>('PRAGMA journal_mode = DELETE').get()!
    if (journal_mode !== 'delete') throw inUse(path)
  } catch (error) {
    const { code = '' } = error as { code?: string }
    throw code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED') ? inUse(path) : error
  } finally {
    connection.close()
  }
}

const inUse = (path: string) =>
  new WrongDatabase(
    `Another Tally process is using ${path}. Stop the server and any other tally commands first, then restore.`,
  )
