/**
 * The place of an embedded database: its file, and what SQLite keeps next to it. SQLite applies a log to whatever file has
 * the name of its database, so whoever puts a database somewhere asks here first.
 */
import { chmodSync, existsSync, linkSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { WrongDatabase } from './wrong-database.ts'

/** Contain changes that may not be in the file: the write-ahead log, and the journal of a transaction that was cut off. */
const LOG_SUFFIXES = ['-wal', '-journal'] as const

/** Made again when the database is opened. */
const SHARED_MEMORY = '-shm'

/** The paths of the logs that are there. */
export const logsOf = (path: string): string[] => LOG_SUFFIXES.map((suffix) => path + suffix).filter(existsSync)

/**
 * Throws {@link WrongDatabase} if there is a log without its database: SQLite would remove it, or apply it to the next
 * database of that name, and it contains the latest acknowledged writes.
 */
export function refuseOrphanedLog(path: string): void {
  const [log] = logsOf(path)
  if (existsSync(path) || log === undefined) return
  throw new WrongDatabase(
    `${path} is missing, but its log ${log} exists, with the latest writes. Move the database file back next to it; or restore a backup with \`tally restore --replace\`, which keeps the log under another name.`,
  )
}

/** The name, or one with a number if something is kept under it: a restore that was killed may be repeated at once. */
function freeName(name: string): string {
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`
    if (!existsSync(free) && logsOf(free).length === 0) return free
  }
}

/**
 * Gives what is at the place another name, the logs under the same suffixes, and returns the new paths. A database stays
 * linked under both names, until another replaces it: a server that starts meanwhile would create one where there is none.
 */
export function setAside(path: string, name: string): string[] {
  const keepAs = freeName(name)
  const kept: string[] = []
  if (existsSync(path)) {
    linkSync(path, keepAs)
    kept.push(keepAs)
  }
  for (const log of logsOf(path)) {
    const other = keepAs + log.slice(path.length)
    renameSync(log, other)
    kept.push(other)
  }
  rmSync(path + SHARED_MEMORY, { force: true })
  // Older versions left their permissions to the umask.
  for (const each of kept) chmodSync(each, 0o600)
  return kept
}

/**
 * Whether another process has a lock on the file, as every one that has the database open does. SQLite says so itself, but
 * only of a file that it can read. False where the system does not list its locks.
 */
export function isLockedElsewhere(path: string): boolean {
  const { dev, ino } = statSync(path)
  // As the kernel composes the number of a device (makedev).
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)]
  const hex = (number: number) => number.toString(16).padStart(2, '0')
  const file = ` ${hex(major)}:${hex(minor)}:${ino} `
  try {
    // 1: POSIX  ADVISORY  READ  4321 fe:00:1234 1073741826 1073742335
    return readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .some((line) => line.includes(file) && !line.includes(` ${process.pid} ${file.trim()} `))
  } catch {
    return false
  }
}
