/**
 * The embedded engine: bun:sqlite below drizzle.
 *
 * Writing is a group commit. Bodies that are waiting when a commit starts run one after the other in one
 * BEGIN IMMEDIATE, each in a SAVEPOINT, and all are answered when their COMMIT is durable. So the price of an fsync is
 * shared by however many requests came while the last one ran.
 *
 * A server's writer commits with synchronous=NORMAL, which leaves out only the fsync of the log at each COMMIT, and
 * syncs the log itself, on another thread, before it answers: what the callers hear is as durable as with FULL, while
 * the main thread prepares the next group. Others may read meanwhile what is not durable yet; whatever they commit
 * after it stands behind it in the same log, and is not durable before it.
 */
import { Database as Connection, type Statement } from 'bun:sqlite'
import { AsyncLocalStorage } from 'node:async_hooks'
import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Database, DatabaseEvents, Reader, Tx } from './database.ts'
import { asProblem, databaseBusy, databaseClosed, failureOf, overloaded } from './errors.ts'
import { Queries } from './queries.ts'
import { openSlowReader } from './slow.ts'
import { sqliteTables } from './tables.ts'

/** 'TALY' in the file's header tells Tally's databases from other SQLite files. */
export const APPLICATION_ID = 0x54414c59

/** Between two tries of BEGIN while another process writes. Nobody notices 5 ms, and 200 tries a second cost nothing. */
const BUSY_RETRY_MS = 5

/** Bodies per commit. 256 take about 20 ms, which is as long as the event loop should be kept. */
const GROUP_LIMIT = 256

/** Waiting bodies beyond which writes are refused: 10,000 are a few seconds of work and a few megabytes. */
const QUEUE_LIMIT = 10_000

/** How long a server's last checkpoint waits for its workers' connections, which are just closing, but not for a long report. */
const LAST_CHECKPOINT_WAIT_MS = 500

/** Others have the file for themselves for as long as it takes to recover or empty its log. */
const OPENING_BUSY_TIMEOUT_MS = 5_000

/** Readers wait for nobody but the one that recovers the log after a crash. */
const WORKER_BUSY_TIMEOUT_MS = 5_000

/** Pages of SQLite's cache per connection, in KiB: the inner pages of ten million entries' indexes fit. */
const CACHE_KIB = 32_768

/** Pragmas that every connection needs; `journal_mode` is the file's and set when it is made. */
export function configureConnection(connection: Connection, busyTimeoutMs: number): void {
  connection.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  connection.run('PRAGMA foreign_keys = ON')
  connection.run('PRAGMA synchronous = FULL')
  connection.run(`PRAGMA cache_size = -${CACHE_KIB}`)
  connection.run('PRAGMA temp_store = MEMORY')
}

class SqliteReader extends Queries {
  readonly #revision: Statement

  constructor(connection: Connection) {
    super(drizzle(connection), sqliteTables)
    this.#revision = connection.prepare('SELECT value FROM revision')
  }

  revision(): number {
    return Number(this.#revision.values()[0]![0])
  }
}

/**
 * The connection for reading. Outside a transaction even the smallest read costs several microseconds, so the revision
 * is read once per turn of the event loop: what another process changed is seen a turn later, and what this one
 * committed at once.
 */
class OutsideReader extends SqliteReader {
  #known: number | undefined

  override revision(): number {
    if (this.#known === undefined) {
      this.#known = super.revision()
      setImmediate(() => this.forgetRevision())
    }
    return this.#known
  }

  forgetRevision(): void {
    this.#known = undefined
  }
}

interface Job {
  body: (tx: Tx) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** What became of a body inside the open transaction. */
type Outcome = { job: Job; value: unknown; effects: (() => void)[] } | { job: Job; error: unknown }

/** Bodies whose COMMIT has run. */
interface CommittedGroup {
  begunAt: number
  answers: Answer[]
  refuse(error: unknown): void
}

/** Tells a body's caller what became of it. */
type Answer = () => void

/** The error of the body after which SQLite had rolled the transaction back. */
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
  #effects: (() => void)[] = []
  #flushing = false
  /** Of the groups that are committed and wait to be made durable. */
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
    /** Undefined where every COMMIT is durable by itself. */
    readonly log: LogFile | undefined,
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

  /** Refuses new bodies and resolves when those that wait are answered. */
  close(): Promise<void> {
    this.#closed = true
    if (!this.#flushing && this.#syncing === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  #schedule(): void {
    // One group is prepared ahead of the disk, as soon as it is as large as the one that is being synced: what came
    // first would otherwise be a small group, for which all others wait one fsync more.
    if (this.#flushing || this.#committed.length > 0 || this.#queue.length < this.#syncing) return
    this.#flushing = true
    // Not at once: what other sockets have already delivered joins the same commit.
    setImmediate(() => this.#flush())
  }

  #settle(): void {
    this.#flushing = false
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
        // SQLite itself rolls everything back when the disk fails or is full; what follows must not run outside a transaction.
        if (!this.connection.inTransaction) throw lostTransaction(outcomes)
        outcomes.push(await this.#run(job))
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
    else this.#tell(group)
    this.#settle()
  }

  /** Syncs the log for all that is committed, one sync at a time, and answers. */
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
        // It is unknown what is durable, and what failed once may seem to work the next time.
        for (const { refuse } of groups) refuse(error)
        this.events.onFatal(error)
        continue
      }
      for (const durable of groups) this.#tell(durable)
    }
    this.#syncing = 0
    if (!this.#flushing) this.#settle()
  }

  #tell({ begunAt, answers }: CommittedGroup): void {
    this.events.onCommit(answers.length, (performance.now() - begunAt) / 1000)
    for (const answer of answers) answer()
  }

  /** A body that failed before keeps its own error, an effect that fails tells its caller what is wrong with it. */
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

  /** Nothing of the group is durable. Every caller hears so, and may try again. */
  #failGroup(jobs: Job[], outcomes: Outcome[], reason: unknown): void {
    let fatal = failureOf(reason) === 'io'
    try {
      if (this.connection.inTransaction) this.#statement.rollback.run()
    } catch {
      // Then this connection never leaves its transaction, and nothing more can be written with it.
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

/** The write-ahead log, as a file to be synced. It stays the same file for as long as any connection is open. */
class LogFile {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(`${path}-wal`, 'r+')
    syncFolder(dirname(path))
  }

  /** Resolves when all that was written before is durable. */
  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#file, (error) => (error ? reject(error) : resolve()))
    })
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** The log may be a new file, whose name is durable only with its folder. Windows cannot and need not sync folders. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

/** Leaves the syncing of the log to the writer. SQLite goes on to sync it before each checkpoint and each new beginning. */
function syncOutside(writing: Connection, path: string): LogFile {
  writing.run('PRAGMA synchronous = NORMAL')
  // Opens the log, which a connection does with its first question.
  writing.run('SELECT value FROM revision')
  return new LogFile(path)
}

export interface SqliteOptions extends DatabaseEvents {
  path: string
  /** Whether to start the workers (slow reads, checkpoints). A short command line does without. */
  workers: boolean
  slowDeadlineMs: number
  busyDeadlineMs: number
}

/** Opens a migrated database file. */
export function openSqlite({ path, workers, slowDeadlineMs, busyDeadlineMs, ...events }: SqliteOptions): Database {
  const writing = new Connection(path, { readwrite: true, create: false, safeIntegers: true })
  // Even a pragma looks into the file, which another process has for itself while it opens or closes it.
  configureConnection(writing, OPENING_BUSY_TIMEOUT_MS)
  // From now on a busy timeout would stop the whole server while another process writes: the writer tries again from a timer.
  writing.run('PRAGMA busy_timeout = 0')

  const reading = new Connection(path, { readonly: true, safeIntegers: true })
  configureConnection(reading, busyDeadlineMs)
  const read = new OutsideReader(reading)
  const log = workers ? syncOutside(writing, path) : undefined
  const writer = new SqliteWriter(writing, events, busyDeadlineMs, read, log)

  const slow = workers ? openSlowReader(path, slowDeadlineMs) : undefined
  const checkpoints = workers ? startCheckpoints(path, writing) : undefined

  async function close(): Promise<void> {
    await writer.close()
    slow?.close()
    await checkpoints?.stop()
    log?.close()
    reading.close()
    emptyLog(writing, workers ? LAST_CHECKPOINT_WAIT_MS : 0)
    writing.close()
  }
  let closing: Promise<void> | undefined

  return {
    engine: 'sqlite',
    file: workers ? path : undefined,
    read: read as unknown as Reader,
    slow: slow?.reader ?? (read as unknown as Reader),
    write: (body) => writer.write(body),
    waitingWrites: () => writer.waiting(),
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** A connection for a worker that reads for itself, as long as its thread lives. */
export function openReadOnly(path: string): Reader {
  const connection = new Connection(path, { readonly: true, safeIntegers: true })
  configureConnection(connection, WORKER_BUSY_TIMEOUT_MS)
  return new SqliteReader(connection) as unknown as Reader
}

/**
 * People copy the file of a stopped server. SQLite would do this at close, if every statement had been finalized.
 *
 * Intentionally no PRAGMA optimize: statistics of a table that was small at the last close mislead the planner for as
 * long as the next server runs, and without any it uses the indexes as they were meant.
 */
function emptyLog(connection: Connection, waitMs: number): void {
  try {
    connection.run(`PRAGMA busy_timeout = ${waitMs}`)
    connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Busy or full: what is durable stays so in the log, and the next opening goes on from there.
  }
}

/** Leaves checkpoints to a worker; SQLite's own begin again where the worker fails. */
function startCheckpoints(path: string, writing: Connection): { stop(): Promise<void> } {
  const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url).href)
  const ended = new Promise<void>((resolve) => worker.addEventListener('close', () => resolve()))
  writing.run('PRAGMA wal_autocheckpoint = 0')
  worker.onerror = () => {
    writing.run('PRAGMA wal_autocheckpoint = 1000')
    worker.terminate()
  }
  worker.onmessage = () => worker.terminate()
  worker.postMessage({ path })
  return {
    stop() {
      worker.postMessage('stop')
      return ended
    },
  }
}
