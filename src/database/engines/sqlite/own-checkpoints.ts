/** Checkpoints without the checkpoint thread: at startup, at the end, and between the commits of a command line. */
import { Database as Connection } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { requireUsable } from '../../database-place.ts'
import { diskSpaceOf, spaceLevelOf } from '../../disk-space.ts'
import { failureOf } from '../../errors.ts'
import { type DatabaseFiles, LostDatabase } from './database-files.ts'

/** A worker's checkpoint may be running when the loss of the files is detected. */
const RESCUE_WAIT_MS = 1_000

/** The size that SQLite's own checkpoints leave, 1,000 pages. */
const COMMAND_LINE_LOG_BYTES = 4 * 1_048_576

interface Checkpointed {
  busy: number
  log: number
  checkpointed: number
}

/** Throws if the disk fails or is full. */
function checkpoint(connection: Connection, mode: 'PASSIVE' | 'FULL' | 'TRUNCATE'): Checkpointed {
  return connection.query<Checkpointed, []>(`PRAGMA wal_checkpoint(${mode})`).get()!
}

/** A command line checkpoints between its commits, as SQLite itself would. */
export function checkpointAfterCommits(connection: Connection, path: string): () => void {
  return () => {
    const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
    if (logBytes > COMMAND_LINE_LOG_BYTES) checkpointIfPossible(connection, 'PASSIVE')
  }
}

/** Skipped if the database is busy or the disk full, since the log keeps everything. Throws if the disk fails. */
function checkpointIfPossible(connection: Connection, mode: 'PASSIVE' | 'TRUNCATE'): void {
  try {
    checkpoint(connection, mode)
  } catch (error) {
    if (failureOf(error) !== 'busy' && failureOf(error) !== 'full') throw error
  }
}

/**
 * Releases the space of the log on a nearly full disk, before anything else needs space: in exclusive mode SQLite needs
 * no shared-memory file, which it could not create on a full disk. Does nothing if another process has the database
 * open, or if the pages of the log do not fit into the database file.
 */
export function emptyLogOfFullDisk(path: string): void {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (logBytes === 0 || spaceLevelOf(diskSpaceOf(dirname(path))) === 'ok') return
  requireUsable(path)
  const connection = new Connection(path, { readwrite: true, create: false })
  try {
    connection.run('PRAGMA busy_timeout = 0')
    connection.run('PRAGMA locking_mode = EXCLUSIVE')
    checkpointIfPossible(connection, 'TRUNCATE')
  } finally {
    connection.close()
  }
}

/**
 * Saves all acknowledged writes before the process ends because of a failed disk or lost files, for whoever opens the
 * database next.
 */
export function saveAcknowledged(files: DatabaseFiles, writing: Connection, error: unknown): void {
  try {
    if (error instanceof LostDatabase) rescueLog(files, writing, error)
    else files.distrust()
  } catch (failure) {
    // The first error is the one to report; the log keeps the rest.
    if (error instanceof Error) error.message += ` (${(failure as Error).message})`
  }
}

/** Copies the log into the file that is still open, wherever it is now. */
function rescueLog(files: DatabaseFiles, writing: Connection, { lost }: LostDatabase): void {
  // The pages of the log do not belong to the file that was copied over the database.
  if (lost === 'overwritten') {
    files.setLogAside()
    return
  }
  if (writing.inTransaction) writing.run('ROLLBACK')
  writing.run(`PRAGMA busy_timeout = ${RESCUE_WAIT_MS}`)
  try {
    // The log stays next to a missing file, so that the next start does not create an empty database; but next to
    // another file it must be empty.
    const state = checkpoint(writing, lost === 'replaced' ? 'TRUNCATE' : 'FULL')
    if (lost === 'replaced' && state.busy) files.setLogAside()
  } catch (error) {
    files.distrust()
    if (lost === 'replaced') files.setLogAside()
    throw error
  }
}

/**
 * Empties the log, because people copy the file of a stopped server. SQLite would do this at close if every statement
 * had been finalized.
 *
 * Intentionally no PRAGMA optimize: statistics of a table that was small at the last close would mislead the planner
 * during the next run; without statistics it uses the indexes as intended.
 */
export function emptyLog(connection: Connection, waitMs: number, onFatal: (error: unknown) => void): void {
  try {
    connection.run(`PRAGMA busy_timeout = ${waitMs}`)
    checkpoint(connection, 'TRUNCATE')
  } catch (error) {
    // Busy or full: the log keeps everything durable, and is used at the next opening.
    if (failureOf(error) === 'io') onFatal(error)
  }
}
