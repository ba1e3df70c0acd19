/** Restores a backup of the embedded database. */
import { Database as Connection } from 'bun:sqlite'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { isLockedElsewhere, issueAt, logsOf, requireUsable, setAside } from '../database-place.ts'
import { syncFolder } from '../engines/sqlite/log-file.ts'
import { refuseNewer } from '../schema/migrate.ts'
import { WrongDatabase } from '../wrong-database.ts'
import { type Copy, copyWhole, identify } from './copy.ts'

interface RestoreOptions {
  /** The backup. It is only read. */
  from: string
  /** The database file. */
  to: string
  /** The name under which the existing database is kept; if undefined, an existing database is an error. */
  keepAs: string | undefined
}

export interface Restored extends Copy {
  /** The files of the existing database, with its logs, under their new names. */
  kept: string[]
  /** Why SQLite could not read the existing database. */
  damage: string | undefined
}

/**
 * Throws {@link WrongDatabase} if the backup is not Tally's, damaged, or from a newer Tally, if a database or the log of
 * one exists and must not be replaced, or if a process is using it. Nothing has changed then.
 */
export function restore({ from, to, keepAs }: RestoreOptions): Restored {
  const issue = issueAt(from)
  if (issue) throw new WrongDatabase(`${issue.what}. Choose another backup.`)
  const { version } = identify(from)
  refuseNewer(version, from)
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  if (keepAs === undefined) {
    if (!existsSync(to)) requireUsable(to)
    else {
      throw new WrongDatabase(
        `${dirname(to)} already contains a database. Choose another folder with --data, or use --replace to replace it and keep a copy of it.`,
      )
    }
  }
  if (existsSync(to)) requireUnused(to)
  const restored = `${to}.restored`
  for (const left of [restored, ...logsOf(restored)]) rmSync(left, { force: true })
  const reading = new Connection(from, { readonly: true })
  let copy: Copy
  try {
    copy = copyWhole(reading, restored, null)
  } finally {
    reading.close()
  }
  // Once more, as the copy of a large backup takes minutes.
  const damage = existsSync(to) ? requireUnused(to) : undefined
  const kept = keepAs === undefined ? [] : setAside(to, keepAs)
  renameSync(restored, to)
  syncFolder(dirname(to))
  return { ...copy, kept, damage }
}

/**
 * Throws if any process has the file open: only the last connection can leave write-ahead mode. Leaving it also moves
 * the content of the log into the file, so that the file alone is the database. Returns why a damaged one could not be
 * read: such a one is most in need of being replaced.
 */
function requireUnused(path: string): string | undefined {
  const issue = issueAt(path)
  if (issue) {
    if (isLockedElsewhere(path)) throw inUse(path)
    return issue.what
  }
  const connection = new Connection(path, { readwrite: true, create: false })
  try {
    connection.run('PRAGMA busy_timeout = 0')
    const { journal_mode } = connection.query<{ journal_mode: string }, []>('PRAGMA journal_mode = DELETE').get()!
    if (journal_mode !== 'delete') throw inUse(path)
    return undefined
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string }
    if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) throw inUse(path)
    if (!DAMAGE.test(code)) throw error
    if (isLockedElsewhere(path)) throw inUse(path)
    return message
  } finally {
    connection.close()
  }
}

/** What SQLite says of a file that is not a database, whose pages contradict each other, or that is shorter than they say. */
const DAMAGE = /^SQLITE_(NOTADB|CORRUPT|IOERR_SHORT_READ)/

const inUse = (path: string) =>
  new WrongDatabase(
    `Another Tally process is using ${path}. Stop the server and any other tally commands first, then restore.`,
  )
