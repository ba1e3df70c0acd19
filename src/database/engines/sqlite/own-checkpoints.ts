/** Checkpoints that do not run on the thread of their own: at a start, at an end, and between the commits of a command line. */
import { Database as Connection } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { diskSpaceOf, spaceLevelOf } from '../../disk-space.ts'
import { failureOf } from '../../errors.ts'
import { type DatabaseFiles, LostDatabase } from './database-files.ts'

/** A checkpoint of a worker may be running while the files are found lost. */
const RESCUE_WAIT_MS = 1_000

/** As much as SQLite's own checkpoints leave, 1,000 pages. */
const COMMAND_LINE_LOG_BYTES = 4 * 1_048_576

interface Checkpointed {
  busy: number
  log: number
  checkpointed: number
}

/** Throws where the disk fails or is full. */
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

/** Not where it is busy or full: the log keeps everything. Throws where the disk fails. */
function checkpointIfPossible(connection: Connection, mode: 'PASSIVE' | 'TRUNCATE'): void {
  try {
    checkpoint(connection, mode)
  } catch (error) {
    if (failureOf(error) !== 'busy' && failureOf(error) !== 'full') throw error
  }
}

/**
 * Gives back the space of the log where the disk has little, before anything else needs some: in exclusive mode SQLite
 * needs no file of shared memory, which it cannot make on a full disk. Does nothing where another process has the
 * database open, or where the pages of the log find no space in the database file.
 */
export function emptyLogOfFullDisk(path: string): void {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (logBytes === 0 || spaceLevelOf(diskSpaceOf(dirname(path))) === 'ok') return
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
 * What is done before a process ends because of its disk or its files, so that those who open the database next find
 * all that was acknowledged.
 */
export function leaveBehind(files: DatabaseFiles, writing: Connection, error: unknown): void {
  try {
    if (error instanceof LostDatabase) rescueLog(files, writing, error)
    else files.distrust()
  } catch (failure) {
    // The first error is the one to report; the log keeps what could not be copied.
    if (error instanceof Error) error.message += ` (${(failure as Error).message})`
  }
}

/** Copies the log into the file that is still open, wherever that is now. */
function rescueLog(files: DatabaseFiles, writing: Connection, { lost }: LostDatabase): void {
  // Pages of the log do not fit to the file that was copied onto the database.
  if (lost === 'overwritten') {
    files.setLogAside()
    return
  }
  if (writing.inTransaction) writing.run('ROLLBACK')
  writing.run(`PRAGMA busy_timeout = ${RESCUE_WAIT_MS}`)
  try {
    // The log stays beside a missing file, so that the next start does not begin with an empty database instead; but
    // beside another file it must hold nothing.
    const state = checkpoint(writing, lost === 'replaced' ? 'TRUNCATE' : 'FULL')
    if (lost === 'replaced' && state.busy) files.setLogAside()
  } catch (error) {
    files.distrust()
    if (lost === 'replaced') files.setLogAside()
    throw error
  }
}

/**
 * People copy the file of a stopped server. SQLite would do this at close, if every statement had been finalized.
 *
 * Intentionally no PRAGMA optimize: statistics of a table that was small at the last close mislead the planner for as
 * long as the next server runs, and without any it uses the indexes as they were meant.
 */
export function emptyLog(connection: Connection, waitMs: number, onFatal: (error: unknown) => void): void {
  try {
    connection.run(`PRAGMA busy_timeout = ${waitMs}`)
    checkpoint(connection, 'TRUNCATE')
  } catch (error) {
    // Busy or full: what is durable stays so in the log, and the next opening goes on from there.
    if (failureOf(error) === 'io') onFatal(error)
  }
}
