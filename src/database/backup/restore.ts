/** Restores a backup of the embedded database. */
import { Database as Connection } from 'bun:sqlite'
import { chmodSync, existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../engines/sqlite/log-file.ts'
import { refuseNewer, WrongDatabase } from '../schema/migrate.ts'
import { type Copy, copyWhole, identify } from './copy.ts'

interface RestoreOptions {
  /** The backup. It is only read. */
  from: string
  /** The database file. */
  to: string
  /** The name under which the existing database is kept; if undefined, an existing database is an error. */
  keepAs: string | undefined
}

/**
 * Throws {@link WrongDatabase} if the backup is not Tally's, damaged, or from a newer Tally, if a database exists and
 * must not be replaced, or if a process is using it. Nothing has changed then.
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
    // A link and then a rename, so that there is always a database: a server that starts without one would create it.
    linkSync(to, keepAs!)
    // Older versions left its permissions to the umask.
    chmodSync(keepAs!, 0o600)
  }
  renameSync(restored, to)
  syncFolder(dirname(to))
  return { ...copy, replaced: replaces }
}

/**
 * Throws if any process has the file open: only the last connection can leave write-ahead mode. Leaving it also moves
 * the content of the log into the file, so that the file alone is the database.
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
