/**
 * The embedded engine: bun:sqlite with drizzle.
 *
 * Writes are group commits. Bodies and items of sets that are waiting when a commit starts run one after the other in
 * one BEGIN IMMEDIATE, each body and each set in a SAVEPOINT, and all return when their COMMIT is durable. So all
 * requests that arrived during the last fsync share the cost of the next one.
 *
 * A server's writer commits with synchronous=NORMAL, which leaves out only the fsync of the log at each COMMIT, and
 * syncs the log itself, on a separate thread, before it returns: the result is as durable as with FULL, while the main
 * thread prepares the next group. Other connections may read data that is not durable yet; anything they commit
 * afterwards is later in the same log, and so not durable earlier.
 */
import { Database as Connection } from 'bun:sqlite'
import type { Database, DatabaseEvents, Reader } from '../../database.ts'
import { databaseFull } from '../../errors.ts'
import { MARK_QUERY, type OpeningMark, refuseMoved } from '../../move/state.ts'
import type { StatementCounts } from '../../statement-counts.ts'
import { asProblems } from '../queries.ts'
import { SlowPool } from '../slow/pool.ts'
import { SlowStreams } from '../slow/streams.ts'
import { startCheckpoints } from './checkpoints.ts'
import { configureConnection, inOneState, openReadOnly } from './connections.ts'
import { CountedConnection } from './counted-connection.ts'
import { DatabaseFiles } from './database-files.ts'
import { APPLICATION_ID } from './file-header.ts'
import { LogFile } from './log-file.ts'
import { checkpointAfterCommits, emptyLog, saveAcknowledged } from './own-checkpoints.ts'
import { ReadErrors } from './read-errors.ts'
import { OutsideReader } from './reader.ts'
import { slowReader } from './slow-reader.ts'
import { SqliteTransaction } from './transaction.ts'
import { SqliteWriter } from './writer.ts'

/** How long a server's last checkpoint waits for the connections of its serving to close, but not for a long report. */
const LAST_CHECKPOINT_WAIT_MS = 500

/** Another process has an exclusive lock while it recovers or empties the log. */
const OPENING_BUSY_TIMEOUT_MS = 5_000

/** How often the files are checked: reports are refused within a second after they are lost. */
const FILES_CHECK_MS = 500

/**
 * The writer descends every index for each entry. Indexes by time grow at their end; of those with random keys, the
 * inner pages, some 5 MB each at ten million entries, all fit.
 */
const WRITER_CACHE_KIB = 16_384

/** Leaves syncing the log to the writer. SQLite still syncs it before each checkpoint and each restart of the log. */
function syncOutside(writing: Connection, path: string, onFatal: (error: unknown) => void): LogFile {
  writing.run('PRAGMA synchronous = NORMAL')
  return new LogFile(path, onFatal)
}

export interface SqliteOptions extends Omit<DatabaseEvents, 'onReplica'> {
  path: string
  /** Whether slow reads have processes of their own, and the log threads. A short command does not need them. */
  serving: boolean
  slowDeadlineMs: number
  slowGraceMs?: number | undefined
  slowStartMs?: number | undefined
  busyDeadlineMs: number
  counts?: StatementCounts | undefined
  slowProgram?: readonly string[] | undefined
}

/** Opens a migrated database file. */
export function openSqlite(options: SqliteOptions): Database {
  const { path, serving, slowDeadlineMs, slowGraceMs, slowStartMs, busyDeadlineMs, counts, slowProgram, ...events } =
    options
  const connect = (access: { readwrite?: true; readonly?: true }): Connection => {
    const settings = { ...access, create: false, safeIntegers: true }
    return counts ? new CountedConnection(path, settings, counts) : new Connection(path, settings)
  }
  const writing = connect({ readwrite: true })
  // Even a pragma reads the file, which another process locks exclusively while it opens or closes it.
  configureConnection(writing, OPENING_BUSY_TIMEOUT_MS)
  writing.run(`PRAGMA cache_size = -${WRITER_CACHE_KIB}`)
  // Opens the log, which a connection does at its first query.
  const mark = writing.query<OpeningMark, []>(MARK_QUERY).get() ?? undefined
  if (mark) writing.close()
  refuseMoved(mark, path)
  const files = new DatabaseFiles(path)
  // Another process may have kept the database open since a server ended after a disk error.
  files.distrust()
  // From now on a busy timeout would block the whole server while another process writes: the writer retries from a
  // timer instead.
  writing.run('PRAGMA busy_timeout = 0')

  let failed = false
  const fail = (error: unknown) => {
    if (failed) return
    failed = true
    writer.close()
    const reason = files.reasonFor(error)
    saveAcknowledged(files, writing, reason)
    events.onFatal(reason)
  }

  const reading = connect({ readonly: true })
  configureConnection(reading, busyDeadlineMs)
  const readErrors = new ReadErrors(path, fail, events.onReadError)
  const read = new OutsideReader(reading, counts, readErrors.note)
  const log = serving ? syncOutside(writing, path, fail) : undefined
  const beforeAnswers = serving ? () => files.checkIfStale() : checkpointAfterCommits(writing, path)
  const tx = new SqliteTransaction(writing, counts)
  const writer = new SqliteWriter(writing, tx, { ...events, onFatal: fail }, busyDeadlineMs, read, log, beforeAnswers)

  const slowOptions = { source: { file: path }, onError: readErrors.note, program: slowProgram, startMs: slowStartMs }
  const pool = serving ? new SlowPool({ ...slowOptions, deadlineMs: slowDeadlineMs, graceMs: slowGraceMs }) : undefined
  const streams = serving ? new SlowStreams(slowOptions) : undefined
  const checkpoints = serving
    ? startCheckpoints({
        path,
        database: files.database,
        holdReads: async (forMs) => (await pool?.hold(forMs)) ?? true,
        pause: () => writer.pause(),
        resume: () => {
          writer.resume()
          pool?.release()
        },
        onBlocked: events.onBlockedLog,
        onOverwritten: () => fail(files.lost('overwritten')),
        onFatal: fail,
      })
    : undefined
  const checking = serving ? setInterval(() => checkFiles(files, fail), FILES_CHECK_MS) : undefined

  async function close(): Promise<void> {
    await writer.close()
    clearInterval(checking)
    pool?.close()
    streams?.close()
    await checkpoints?.stop()
    log?.close()
    reading.close()
    if (!failed) emptyLog(writing, serving ? LAST_CHECKPOINT_WAIT_MS : 0, fail)
    writing.close()
    files.close()
  }
  let closing: Promise<void> | undefined

  return {
    engine: 'sqlite',
    file: serving ? path : undefined,
    read: read as unknown as Reader,
    slow: pool ? slowReader(pool) : (read as unknown as Reader),
    slowly: (task, args) => (pool ? pool.run(task, args) : runHere(path, (reader) => task.run(reader, args))),
    inOneState: (body) => runHere(path, body),
    streamSlowly: (stream, args) => streams?.run(stream, args) ?? stream.run(read as unknown as Reader, args),
    write: (body) => writer.write(body),
    setWriter: (record) => writer.setWriter(record),
    // Writes page 1 even if the number is the same.
    async probe() {
      // This write may need less space than those that were refused.
      if (writer.wasFullRecently()) throw databaseFull()
      await writer.write(async () => {
        writing.run(`PRAGMA application_id = ${APPLICATION_ID}`)
      })
    },
    waitingWrites: () => writer.waiting(),
    close() {
      closing ??= close()
      return closing
    },
  }
}

function checkFiles(files: DatabaseFiles, onLost: (error: unknown) => void): void {
  try {
    files.check()
  } catch (error) {
    onLost(error)
  }
}

async function runHere<Result>(path: string, body: (reader: Reader) => Promise<Result>): Promise<Result> {
  const database = openReadOnly(path)
  try {
    return await asProblems(() => inOneState(database, body))
  } finally {
    database.close()
  }
}
