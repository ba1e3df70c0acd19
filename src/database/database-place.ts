/**
 * The place of an embedded database: its file, and what SQLite keeps next to it. SQLite applies a log to whatever file has
 * the name of its database, so whoever puts a database somewhere asks here first.
 */
import { chmodSync, existsSync, linkSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { databaseBytes, hasSchema, headerOf, isOwn } from './engines/sqlite/file-header.ts'
import { headersInLog, isLogForeign } from './engines/sqlite/log-owner.ts'
import { WrongDatabase } from './wrong-database.ts'

/** Contain changes that may not be in the file: the write-ahead log, and the journal of a transaction that was cut off. */
const LOG_SUFFIXES = ['-wal', '-journal'] as const

/** Made again when the database is opened. */
const SHARED_MEMORY = '-shm'

/** The paths of the logs that are there. */
export const logsOf = (path: string): string[] => LOG_SUFFIXES.map((suffix) => path + suffix).filter(existsSync)

interface PlaceIssue {
  what: string
  /** What to do. */
  advice: string
}

/**
 * Why SQLite must not open what is at the place: it would begin a new database in an empty file, add to that of another
 * program, and remove a log without its database or apply it to another one. Undefined if it may, or if nothing is there.
 */
export function issueAt(path: string): PlaceIssue | undefined {
  const [log] = logsOf(path)
  const file = statSync(path, { throwIfNoEntry: false })
  if (file === undefined) {
    return log === undefined
      ? undefined
      : {
          what: `${path} is missing, but its log ${log} exists, with the latest writes`,
          advice:
            'Move the database file back next to it; or restore a backup with `tally restore --replace`, which keeps the log under another name.',
        }
  }
  // SQLite says what else it is, such as a folder.
  if (!file.isFile()) return undefined
  if (file.size === 0) {
    return {
      what: `${path} is empty`,
      advice: 'Restore a backup with `tally restore --replace`; or remove the file to start with a new database.',
    }
  }
  const header = headerOf(path)
  const bytes = databaseBytes(header)
  if (bytes === undefined) {
    // The write of a checkpoint may have failed halfway: SQLite reads the first page from the log, then.
    if (headersInLog(path).some(isOwn)) return undefined
    return {
      what: `${path} is not a SQLite database, or is damaged`,
      advice: 'Choose another folder with --data, or restore a backup with `tally restore --replace`.',
    }
  }
  // Until a checkpoint is finished, the log has what the file lacks.
  if (log === undefined && file.size < bytes) {
    return {
      what: `${path} is incomplete: it has ${file.size} of ${bytes} bytes`,
      advice: 'Copy it again, or restore a backup with `tally restore --replace`.',
    }
  }
  if (isOfAnotherProgram(path, header)) {
    return { what: `${path} is a SQLite database of another program`, advice: 'Choose another folder with --data.' }
  }
  if (isLogForeign(path)) {
    return {
      what: `${path}-wal is the log of another database, or of an earlier or later copy of ${path}, which it would damage`,
      advice: `If the database file was replaced by mistake, move the original back next to its log. Otherwise move the log away: mv ${path}-wal ${path}-wal.other. Or restore a backup with \`tally restore --replace\`, which keeps both files.`,
    }
  }
  return undefined
}

/** A database that has just begun may have everything in its log. */
function isOfAnotherProgram(path: string, header: Buffer): boolean {
  if (isOwn(header)) return false
  const versions = [header, ...headersInLog(path)]
  return versions.some(hasSchema) && !versions.some(isOwn)
}

/** Throws {@link WrongDatabase} if SQLite must not open what is at the place. */
export function requireUsable(path: string): void {
  const issue = issueAt(path)
  if (issue) throw new WrongDatabase(`${issue.what}. ${issue.advice}`)
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
