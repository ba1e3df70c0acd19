/**
 * The embedded engine: bun:sqlite with drizzle.
 *
 * Writes are group commits. Bodies that are waiting when a commit starts run one after the other in one BEGIN
 * IMMEDIATE, each in a SAVEPOINT, and all return when their COMMIT is durable. So all requests that arrived during the
 * last fsync share the cost of the next one.
 *
 * A server's writer commits with synchronous=NORMAL, which leaves out only the fsync of the log at each COMMIT, and
 * syncs the log itself, on a separate thread, before it returns: the result is as durable as with FULL, while the main
 * thread prepares the next group. Other connections may read data that is not durable yet; anything they commit
 * afterwards is later in the same log, and so not durable earlier.
 */
import { Database as Connection, type Statement } from 'bun:sqlite'
import { AsyncLocalStorage } from 'node:async_hooks'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Database, DatabaseEvents, Reader, Tx } from '../../database.ts'
import { asProblem, databaseBusy, databaseClosed, databaseFull, failureOf, overloaded } from '../../errors.ts'
import { sqliteTables } from '../../schema/tables.ts'
import { Queries, watchErrors } from '../queries.ts'
import { startCheckpoints } from './checkpoints.ts'
import { DatabaseFiles } from './database-files.ts'
import { LogFile } from './log-file.ts'
import { checkpointAfterCommits, emptyLog, saveAcknowledged } from './own-checkpoints.ts'
import { ReadErrors } from './read-errors.ts'
import { openSlowReader } from './slow-reads.ts'

/** 'TALY' in the file's header identifies Tally's databases. */
export const APPLICATION_ID = 0x54414c59

/**
 * Between two attempts of BEGIN while another process writes. 5 ms are not noticeable, and 200 attempts a second cost
 * little.
 */
const BUSY_RETRY_MS = 5

/** Bodies per commit. 256 take about 20 ms, which is as long as the event loop should be blocked. */
const GROUP_LIMIT = 256

/** The maximum number of waiting bodies: 10,000 are a few seconds of work and a few megabytes. */
const QUEUE_LIMIT = 10_000

/** How long the disk counts as full after a write found no space; without writes, a probe checks it. */
const FULL_FOR_MS = 2_000

/** How long a server's last checkpoint waits for the connections of its workers to close, but not for a long report. */
const LAST_CHECKPOINT_WAIT_MS = 500

/** Another process has an exclusive lock while it recovers or empties the log. */
const OPENING_BUSY_TIMEOUT_MS = 5_000

/** Readers wait only for a process that recovers the log after a crash. */
const WORKER_BUSY_TIMEOUT_MS = 5_000

/** How often the files are checked: reports are refused within a second after they are lost. */
const FILES_CHECK_MS = 500

/** Size of SQLite's page cache, in KiB. Pages that a reader needs repeatedly fit, such as those of a list. */
const CACHE_KIB = 4_096

/**
 * The writer descends every index for each entry. Indexes by time grow at their end; of those with random keys, the
 * inner pages, some 5 MB each at ten million entries, all fit.
 */
const WRITER_CACHE_KIB = 16_384

/** Pragmas that every connection needs; `journal_mode` belongs to the file and is set when it is created. */
export function configureConnection(connection: Connection, busyTimeoutMs: number): void {
  connection.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  connection.run('PRAGMA foreign_keys = ON')
  connection.run('PRAGMA synchronous = FULL')
  connection.run(`PRAGMA cache_size = -${CACHE_KIB}`)
  // SQLite's automatic checkpoints do not report their errors.
  connection.run('PRAGMA wal_autocheckpoint = 0')
  connection.run('PRAGMA temp_store = MEMORY')
}

class SqliteReader extends Queries {
  readonly #revision: Statement

  constructor(connection: Connection, onError?: (error: unknown) => void) {
    const orm = drizzle(connection)
    if (onError) watchErrors(orm, onError)
    super(orm, sqliteTables)
    this.#revision = connection.prepare('SELECT value FROM revision')
  }

  revision(): number {
    return Number(this.#revision.values()[0]![0])
  }
}

/**
 * The connection for reading. Outside a transaction even the smallest read costs several microseconds, so the revision
 * is read once per turn of the event loop: changes of other processes are seen a turn later, those of this process
 * immediately.
 */
class OutsideReader extends SqliteReader {
  #known: number | undefined

  constructor(
    connection: Connection,
    readonly onError: (error: unknown) => void,
  ) {
    super(connection, onError)
  }

  override revision(): number {
    if (this.#known === undefined) {
      this.#known = this.#read()
      setImmediate(() => this.forgetRevision())
    }
    return this.#known
  }

  forgetRevision(): void {
    this.#known = undefined
  }

  #read(): number {
    try {
      return super.revision()
    } catch (error) {
      this.onError(error)
      throw error
    }
  }
}

interface Job {
  body: (tx: Tx) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** The outcome of a body inside the open transaction. */
type Outcome = { job: Job; value: unknown; effects: (() => void)[] } | { job: Job; error: unknown }

/** Bodies whose COMMIT has run. */
interface CommittedGroup {
  begunAt: number
  answers: Answer[]
  refuse(error: unknown): void
}

/** Returns the outcome to a body's caller. */
type Answer = () => void

/** The error of the body after which SQLite rolled the transaction back. */
function lostTransaction(outcomes: Outcome[]): unknown {
  const failed = outcomes.find((outcome) => 'error' in outcome)
  return failed?.error ?? new Error('SQLite rolled the transaction back')
}

class SqliteWriter {
  readonly #tx: SqliteReader & Pick<Tx, 'afterCommit' | 'attempt'>
  readonly #statement: Record<'begin' | 'commit' | 'rollback' | 'savepoint' | 'release' | 'rollbackTo', Statement>
  readonly #inside = new AsyncLocalStorage<true>()
  readonly #queue: Job[] = []
  readonly #whenIdle: (() => void)[] = []
  readonly #whenPaused: (() => void)[] = []
  #paused = false
  #fullAt = Number.NEGATIVE_INFINITY
  #effects: (() => void)[] = []
  #flushing = false
  /** Groups that are committed but not durable yet. */
  #committed: CommittedGroup[] = []
  /** How many bodies are being made durable; 0 while the log is not being synced. */
  #syncing = 0
  #busySince: number | undefined
  #closed = false

  constructor(
    readonly connection: Connection,
    readonly events: DatabaseEvents,
    readonly busyDeadlineMs: number,
    readonly outside: OutsideReader,
    /** Undefined if every COMMIT is durable by itself. */
    readonly log: LogFile | undefined,
    /** Runs when a group is committed and durable, before its callers get their results. Throws if they must not. */
    readonly beforeAnswers: () => void,
  ) {
    this.#tx = Object.assign(new SqliteReader(connection), {
      afterCommit: (effect: () => void) => {
        this.#effects.push(effect)
      },
      attempt: <Result>(body: () => Promise<Result>) => this.#attempt(body),
    })
    this.#statement = {
      begin: connection.prepare('BEGIN IMMEDIATE'),
      commit: connection.prepare('COMMIT'),
      rollback: connection.prepare('ROLLBACK'),
      savepoint: connection.prepare('SAVEPOINT body'),
      release: connection.prepare('RELEASE body'),
      rollbackTo: connection.prepare('ROLLBACK TO body'),
    }
  }

  write<Result>(body: (tx: Tx) => Promise<Result>): Promise<Result> {
    if (this.#inside.getStore()) throw new Error('write() was called inside write(): pass the tx on instead')
    if (this.#closed) return Promise.reject(databaseClosed())
    if (this.#queue.length >= QUEUE_LIMIT) return Promise.reject(overloaded())
    return new Promise<Result>((resolve, reject) => {
      this.#queue.push({ body, resolve: resolve as (value: unknown) => void, reject })
      this.#schedule()
    })
  }

  waiting(): number {
    return this.#queue.length
  }

  wasFullRecently(): boolean {
    return performance.now() - this.#fullAt < FULL_FOR_MS
  }

  /** Refuses new bodies and resolves once the waiting ones are done. */
  close(): Promise<void> {
    this.#closed = true
    if (!this.#flushing && this.#syncing === 0 && this.#queue.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  /** Resolves when no transaction is open. None starts before `resume`. */
  pause(): Promise<void> {
    this.#paused = true
    if (!this.#flushing) return Promise.resolve()
    return new Promise((resolve) => this.#whenPaused.push(resolve))
  }

  resume(): void {
    this.#paused = false
    if (this.#queue.length > 0) this.#schedule()
  }

  #schedule(): void {
    if (this.#paused) return
    // One group is prepared during a sync, once it is as large as the one being synced: otherwise the first bodies
    // would form a small group, and all others would wait for one more fsync.
    if (this.#flushing || this.#committed.length > 0 || this.#queue.length < this.#syncing) return
    this.#flushing = true
    // Deferred, so that requests already received on other sockets join the same commit.
    setImmediate(() => this.#flush())
  }

  #settle(): void {
    this.#flushing = false
    for (const resolve of this.#whenPaused.splice(0)) resolve()
    if (this.#queue.length > 0) {
      this.#schedule()
      return
    }
    if (this.#syncing > 0) return
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  async #flush(): Promise<void> {
    try {
      this.#statement.begin.run()
    } catch (error) {
      this.#refuseOrRetry(error)
      return
    }
    this.#busySince = undefined
    const begunAt = performance.now()
    const jobs = this.#queue.splice(0, GROUP_LIMIT)
    const outcomes: Outcome[] = []
    try {
      for (const job of jobs) {
        // SQLite itself rolls everything back when the disk fails or is full; the rest must not run outside a
        // transaction.
        if (!this.connection.inTransaction) throw lostTransaction(outcomes)
        const outcome = await this.#run(job)
        outcomes.push(outcome)
        // If a page cannot be read, other reads of the transaction may be wrong too.
        if ('error' in outcome && failureOf(outcome.error) === 'io') throw outcome.error
      }
      if (!this.connection.inTransaction) throw lostTransaction(outcomes)
      this.#statement.commit.run()
    } catch (error) {
      this.#failGroup(jobs, outcomes, error)
      this.#settle()
      return
    }
    this.outside.forgetRevision()
    const answers = outcomes.map((outcome) => this.#answerOf(outcome))
    const refuse = (error: unknown) => {
      for (const { reject } of jobs) reject(asProblem(error))
    }
    const group = { begunAt, answers, refuse }
    if (this.log) this.#makeDurable(this.log, group)
    else this.#answer([group])
    this.#settle()
  }

  /** Syncs the log for all committed groups, one sync at a time, and returns their results. */
  async #makeDurable(log: LogFile, group: CommittedGroup): Promise<void> {
    this.#committed.push(group)
    if (this.#syncing > 0) return
    while (this.#committed.length > 0) {
      const groups = this.#committed.splice(0)
      this.#syncing = groups.reduce((sum, { answers }) => sum + answers.length, 0)
      this.#schedule()
      try {
        await log.sync()
      } catch (error) {
        // It is unknown what is durable, and a failed sync may seem to succeed the next time.
        this.#refuseAll(groups, error)
        continue
      }
      this.#answer(groups)
    }
    this.#syncing = 0
    if (!this.#flushing) this.#settle()
  }

  #answer(groups: CommittedGroup[]): void {
    try {
      this.beforeAnswers()
    } catch (error) {
      this.#refuseAll(groups, error)
      return
    }
    for (const durable of groups) this.#resolveGroup(durable)
  }

  #refuseAll(groups: CommittedGroup[], error: unknown): void {
    for (const { refuse } of groups) refuse(error)
    this.events.onFatal(error)
  }

  #resolveGroup({ begunAt, answers }: CommittedGroup): void {
    this.events.onCommit(answers.length, (performance.now() - begunAt) / 1000)
    for (const answer of answers) answer()
  }

  /** A failed body keeps its own error; if an effect fails, its caller gets the error. */
  #answerOf(outcome: Outcome): Answer {
    const { job } = outcome
    try {
      if ('error' in outcome) throw asProblem(outcome.error)
      for (const effect of outcome.effects) effect()
      return () => job.resolve(outcome.value)
    } catch (error) {
      return () => job.reject(error)
    }
  }

  async #attempt<Result>(body: () => Promise<Result>): Promise<Result> {
    const before = this.#effects.length
    this.connection.run('SAVEPOINT attempt')
    try {
      const value = await body()
      this.connection.run('RELEASE attempt')
      return value
    } catch (error) {
      this.#effects.length = before
      // SQLite itself rolls everything back when the disk fails or is full.
      if (this.connection.inTransaction) this.connection.run('ROLLBACK TO attempt; RELEASE attempt')
      throw error
    }
  }

  async #run(job: Job): Promise<Outcome> {
    this.#effects = []
    this.#statement.savepoint.run()
    try {
      const value = await this.#inside.run(true, () => job.body(this.#tx as unknown as Tx))
      this.#statement.release.run()
      return { job, value, effects: this.#effects }
    } catch (error) {
      if (this.connection.inTransaction) {
        this.#statement.rollbackTo.run()
        this.#statement.release.run()
      }
      return { job, error }
    }
  }

  /** Nothing of the group is durable. Every caller gets the error, and may try again. */
  #failGroup(jobs: Job[], outcomes: Outcome[], reason: unknown): void {
    let fatal = failureOf(reason) === 'io'
    if (failureOf(reason) === 'full') this.#fullAt = performance.now()
    try {
      if (this.connection.inTransaction) this.#statement.rollback.run()
    } catch {
      // This connection can't leave its transaction any more, so nothing more can be written with it.
      fatal = true
    }
    for (const [position, job] of jobs.entries()) {
      const outcome = outcomes[position]
      job.reject(asProblem(outcome && 'error' in outcome ? outcome.error : reason))
    }
    if (fatal) this.events.onFatal(reason)
  }

  #refuseOrRetry(error: unknown): void {
    const failure = failureOf(error)
    this.#busySince ??= performance.now()
    if (failure === 'busy' && performance.now() - this.#busySince < this.busyDeadlineMs) {
      setTimeout(() => this.#flush(), BUSY_RETRY_MS)
      return
    }
    this.#busySince = undefined
    const refusal = failure === 'busy' ? databaseBusy() : asProblem(error)
    for (const job of this.#queue.splice(0)) job.reject(refusal)
    this.#settle()
    if (failure === 'io') this.events.onFatal(error)
  }
}

/** Leaves syncing the log to the writer. SQLite still syncs it before each checkpoint and each restart of the log. */
function syncOutside(writing: Connection, path: string, onFatal: (error: unknown) => void): LogFile {
  writing.run('PRAGMA synchronous = NORMAL')
  return new LogFile(path, onFatal)
}

export interface SqliteOptions extends DatabaseEvents {
  path: string
  /** Whether to start the workers (slow reads, checkpoints). A short command does not need them. */
  workers: boolean
  slowDeadlineMs: number
  busyDeadlineMs: number
}

/** Opens a migrated database file. */
export function openSqlite({ path, workers, slowDeadlineMs, busyDeadlineMs, ...events }: SqliteOptions): Database {
  const writing = new Connection(path, { readwrite: true, create: false, safeIntegers: true })
  // Even a pragma reads the file, which another process locks exclusively while it opens or closes it.
  configureConnection(writing, OPENING_BUSY_TIMEOUT_MS)
  writing.run(`PRAGMA cache_size = -${WRITER_CACHE_KIB}`)
  // Opens the log, which a connection does at its first query.
  writing.run('SELECT value FROM revision')
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

  const reading = new Connection(path, { readonly: true, safeIntegers: true })
  configureConnection(reading, busyDeadlineMs)
  const readErrors = new ReadErrors(path, fail, events.onReadError)
  const read = new OutsideReader(reading, readErrors.note)
  const log = workers ? syncOutside(writing, path, fail) : undefined
  const beforeAnswers = workers ? () => files.checkIfStale() : checkpointAfterCommits(writing, path)
  const writer = new SqliteWriter(writing, { ...events, onFatal: fail }, busyDeadlineMs, read, log, beforeAnswers)

  const slow = workers ? openSlowReader(path, slowDeadlineMs, readErrors.note) : undefined
  const checkpoints = workers
    ? startCheckpoints({
        path,
        database: files.database,
        holdReads: async (forMs) => (await slow?.hold(forMs)) ?? true,
        pause: () => writer.pause(),
        resume: () => {
          writer.resume()
          slow?.release()
        },
        onBlocked: events.onBlockedLog,
        onOverwritten: () => fail(files.lost('overwritten')),
        onFatal: fail,
      })
    : undefined
  const checking = workers ? setInterval(() => checkFiles(files, fail), FILES_CHECK_MS) : undefined

  async function close(): Promise<void> {
    await writer.close()
    clearInterval(checking)
    slow?.close()
    await checkpoints?.stop()
    log?.close()
    reading.close()
    if (!failed) emptyLog(writing, workers ? LAST_CHECKPOINT_WAIT_MS : 0, fail)
    writing.close()
    files.close()
  }
  let closing: Promise<void> | undefined

  return {
    engine: 'sqlite',
    file: workers ? path : undefined,
    read: read as unknown as Reader,
    slow: slow?.reader ?? (read as unknown as Reader),
    write: (body) => writer.write(body),
    // Writes page 1 even if the number is the same.
    async probe() {
      // This write may need less space than those that were refused.
      if (writer.wasFullRecently()) throw databaseFull()
      await writer.write(async () => {
        writing.run('PRAGMA user_version = 0')
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

/** A connection for a worker that reads directly. */
export function openReadOnly(path: string): { reader: Reader; close(): void } {
  const connection = new Connection(path, { readonly: true, safeIntegers: true })
  configureConnection(connection, WORKER_BUSY_TIMEOUT_MS)
  return { reader: new SqliteReader(connection) as unknown as Reader, close: () => connection.close() }
}
