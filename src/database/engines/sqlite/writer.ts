import type { Database as Connection, Statement } from 'bun:sqlite'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { DatabaseEvents, Outcome, SetWriter, Tx } from '../../database.ts'
import { databaseBusy, databaseClosed, failureOf } from '../../errors.ts'
import {
  GROUP_LIMIT,
  leftOf,
  type Recorder,
  recordItems,
  runEffects,
  type TakenItem,
  WaitingCalls,
} from '../waiting-calls.ts'
import { numberCommit } from './file-header.ts'
import type { LogFile } from './log-file.ts'
import type { OutsideReader } from './reader.ts'
import type { SqliteTransaction } from './transaction.ts'

/**
 * Between two attempts of BEGIN while another process writes. 5 ms are not noticeable, and 200 attempts a second cost
 * little.
 */
const BUSY_RETRY_MS = 5

/** From so many waiting items on, a group is prepared while the previous one is synced. */
const PREPARED_DURING_SYNC = GROUP_LIMIT / 2

/** How long a group waits for the next items of callers that just got their answers, if there are enough of them. */
const GATHER_MS = 1
const GATHERED_FROM = 8

/** A number costs a page of the log and a statement, so of a thousand commits a second not each has one of its own. */
const NUMBERED_EVERY_MS = 50

/** How long the disk counts as full after a write found no space; without writes, a probe checks it. */
const FULL_FOR_MS = 2_000

/** Items whose COMMIT has run. */
interface CommittedGroup {
  startedAt: number
  items: readonly TakenItem[]
}

/** Items whose writes are in the open transaction, with the effects of these writes. */
interface WrittenSet {
  items: readonly TakenItem[]
  effects: (() => void)[]
}

/** Writes calls in groups. A body is a set of one item, with a `record` of its own. */
export class SqliteWriter {
  readonly #statement: Record<'begin' | 'commit' | 'rollback', Statement>
  readonly #inside = new AsyncLocalStorage<true>()
  readonly #waiting = new WaitingCalls()
  readonly #whenIdle: (() => void)[] = []
  readonly #whenPaused: (() => void)[] = []
  #paused = false
  #fullAt = Number.NEGATIVE_INFINITY
  #flushing = false
  /** Groups that are committed but not durable yet. */
  #committed: CommittedGroup[] = []
  /** How many items are being made durable; 0 while the log is not being synced. */
  #syncing = 0
  #busySince: number | undefined
  /** Runs while the next group waits for more items. */
  #gathering: Timer | undefined
  /** Items that may come soon after the last answers, with those that were waiting already. */
  #expected = 0
  #answeredAt = Number.NEGATIVE_INFINITY
  #numberedAt = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(
    readonly connection: Connection,
    readonly tx: SqliteTransaction,
    readonly events: Omit<DatabaseEvents, 'onReplica'>,
    readonly busyDeadlineMs: number,
    readonly outside: OutsideReader,
    /** Undefined if every COMMIT is durable by itself. */
    readonly log: LogFile | undefined,
    /** Runs when a group is committed and durable, before its callers get their results. Throws if they must not. */
    readonly beforeAnswers: () => void,
  ) {
    this.#statement = {
      // Not bun:sqlite's `transaction`, which commits before an async body ends. A deferred transaction would fail at its
      // first write while another process writes.
      begin: connection.prepare('BEGIN IMMEDIATE'),
      commit: connection.prepare('COMMIT'),
      rollback: connection.prepare('ROLLBACK'),
    }
  }

  async write<Result>(body: (tx: Tx) => Promise<Result>): Promise<Result> {
    const [outcome] = await this.#add(async (tx) => [{ value: await body(tx) }], [undefined])
    if ('error' in outcome!) throw outcome.error
    return outcome!.value as Result
  }

  setWriter<Item, Value>(
    record: (tx: Tx, items: readonly Item[]) => Promise<Outcome<Value>[]>,
  ): SetWriter<Item, Value> {
    return async (items) => (items.length === 0 ? [] : this.#add(record, items)) as Promise<Outcome<Value>[]>
  }

  waiting(): number {
    return this.#waiting.calls
  }

  wasFullRecently(): boolean {
    return performance.now() - this.#fullAt < FULL_FOR_MS
  }

  /** Refuses new calls and resolves once the waiting ones are done. */
  close(): Promise<void> {
    this.#closed = true
    if (!this.#flushing && this.#syncing === 0 && this.#waiting.calls === 0) return Promise.resolve()
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
    if (this.#waiting.calls > 0) this.#schedule()
  }

  #add(record: Recorder, items: readonly unknown[]): Promise<Outcome<unknown>[]> {
    if (this.#inside.getStore()) throw new Error('write() was called inside write(): pass the tx on instead')
    if (this.#closed) throw databaseClosed()
    const outcomes = this.#waiting.add(record, items)
    if (this.#gathering && !this.#isExpectingMore()) this.#start()
    this.#schedule()
    return outcomes
  }

  #schedule(): void {
    if (this.#paused || this.#flushing || this.#committed.length > 0) return
    // A large group is prepared during a sync. A small one would only make all others wait for one more sync.
    if (this.#syncing > 0 && this.#waiting.items < PREPARED_DURING_SYNC) return
    this.#flushing = true
    if (this.#isExpectingMore()) this.#gathering = setTimeout(() => this.#start(), GATHER_MS)
    else this.#start()
  }

  /**
   * Callers that just got their answers usually send the next items at once: with these, the group is as large as the
   * number of callers, instead of half of it.
   */
  #isExpectingMore(): boolean {
    if (this.#expected < GATHERED_FROM || performance.now() - this.#answeredAt > GATHER_MS) return false
    return this.#waiting.items < Math.min(this.#expected, GROUP_LIMIT)
  }

  #start(): void {
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    // Deferred, so that requests already received on other sockets join the same commit.
    setImmediate(() => this.#flush())
  }

  #settle(): void {
    this.#flushing = false
    for (const resolve of this.#whenPaused.splice(0)) resolve()
    if (this.#waiting.calls > 0) {
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
    const startedAt = performance.now()
    const items = this.#waiting.take(GROUP_LIMIT)
    const written: WrittenSet[] = []
    try {
      // Throws if a newer version has upgraded the database in a way that this one cannot write any more.
      this.tx.revision()
      const sets = [...Map.groupBy(items, ({ call }) => call.record)]
      const isWritten = sets.length > 1 || (await this.#recordAlone(...sets[0]!, written))
      if (sets.length > 1) for (const [record, set] of sets) await this.#record(record, set, written)
      if (isWritten) {
        this.#number(startedAt)
        this.#statement.commit.run()
      }
    } catch (error) {
      this.#failGroup(items, error)
      this.#settle()
      return
    }
    this.outside.forgetRevision()
    this.#waiting.putBack(leftOf(items))
    for (const { effects, items: set } of written) runEffects(effects, set)
    const group = { startedAt, items: items.filter(({ outcome }) => outcome) }
    if (this.log) this.#makeDurable(this.log, group)
    else this.#answer([group])
    this.#settle()
  }

  #number(now: number): void {
    if (now - this.#numberedAt < NUMBERED_EVERY_MS) return
    numberCommit(this.connection)
    this.#numberedAt = now
  }

  /**
   * As {@link #record}, for the only set of a group, without a savepoint: with one, SQLite first copies every page that
   * it changes. Returns whether there is something to commit.
   */
  async #recordAlone(record: Recorder, items: readonly TakenItem[], written: WrittenSet[]): Promise<boolean> {
    try {
      const effects = await this.tx.whole(() => this.#inside.run(true, () => recordItems(record, this.tx, items)))
      written.push({ items, effects })
      return true
    } catch (error) {
      const failure = failureOf(error)
      if (failure === 'io' || failure === 'full' || !this.connection.inTransaction) throw error
      this.#statement.rollback.run()
      if (items.length === 1) {
        items[0]!.outcome = { error }
        return false
      }
    }
    this.#statement.begin.run()
    await this.#recordHalves(record, items, written)
    return true
  }

  async #recordHalves(record: Recorder, items: readonly TakenItem[], written: WrittenSet[]): Promise<void> {
    const middle = items.length >> 1
    const [first, second] = [items.slice(0, middle), items.slice(middle)]
    await this.#record(record, first, written)
    if (leftOf(first).length > 0) for (const item of second) item.outcome = undefined
    else await this.#record(record, second, written)
  }

  /** Writes the items, or those that can be written, and gives each its outcome. Throws if the whole group failed. */
  async #record(record: Recorder, items: readonly TakenItem[], written: WrittenSet[]): Promise<void> {
    try {
      const effects = await this.tx.part(() => this.#inside.run(true, () => recordItems(record, this.tx, items)))
      written.push({ items, effects })
    } catch (error) {
      const failure = failureOf(error)
      for (const item of items) item.outcome = { error }
      // If a page cannot be read, other reads of the transaction may be wrong too. And SQLite itself rolls everything
      // back when the disk fails or is full: the rest must not run outside a transaction.
      if (failure === 'io' || !this.connection.inTransaction) throw error
      if (items.length === 1) return
      if (failure === 'full') throw error
      await this.#recordHalves(record, items, written)
    }
  }

  /** Syncs the log for all committed groups, one sync at a time, and returns their results. */
  async #makeDurable(log: LogFile, group: CommittedGroup): Promise<void> {
    this.#committed.push(group)
    if (this.#syncing > 0) return
    while (this.#committed.length > 0) {
      const groups = this.#committed.splice(0)
      this.#syncing = groups.reduce((sum, { items }) => sum + items.length, 0)
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
    this.#answeredAt = performance.now()
    this.#expected = this.#waiting.items + groups.reduce((sum, { items }) => sum + items.length, 0)
    for (const { startedAt, items } of groups) {
      this.events.onCommit(items.length, (performance.now() - startedAt) / 1000)
      for (const item of items) item.settle(item.outcome!)
    }
  }

  #refuseAll(groups: CommittedGroup[], error: unknown): void {
    for (const { items } of groups) for (const item of items) item.settle({ error })
    this.events.onFatal(error)
  }

  /** Nothing of the group is durable. Every item gets an error, and its caller may try again. */
  #failGroup(items: readonly TakenItem[], reason: unknown): void {
    let fatal = failureOf(reason) === 'io'
    if (failureOf(reason) === 'full') this.#fullAt = performance.now()
    try {
      if (this.connection.inTransaction) this.#statement.rollback.run()
    } catch {
      // This connection can't leave its transaction any more, so nothing more can be written with it.
      fatal = true
    }
    for (const item of items) {
      const failed = item.outcome && 'error' in item.outcome
      item.settle(failed ? item.outcome! : { error: reason })
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
    const refusal = { error: failure === 'busy' ? databaseBusy() : error }
    for (const item of this.#waiting.take(Number.POSITIVE_INFINITY)) item.settle(refusal)
    this.#settle()
    if (failure === 'io') this.events.onFatal(error)
  }
}
