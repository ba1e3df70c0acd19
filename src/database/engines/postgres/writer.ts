import { AsyncLocalStorage } from 'node:async_hooks'
import { Problem } from '../../../errors.ts'
import type { DatabaseEvents, Outcome, SetWriter, Tx, WriteOptions } from '../../database.ts'
import { asProblem, commitUnknown, databaseClosed, failureOf } from '../../errors.ts'
import { requireCompatible } from '../../schema/compatibility.ts'
import type { Around } from '../queries.ts'
import { leftOf, type Recorder, recordItems, runEffects, type TakenItem } from '../waiting-calls.ts'
import { Turns } from './lanes.ts'
import { Lane, type Link, type LinkOptions, PATIENCE_MS } from './link.ts'
import { SetQueue } from './set-queue.ts'
import { PostgresTransaction } from './transaction.ts'

/** Connections for writing. More than the cores of a small server would only wait for each other's fsync. */
const WRITERS = 8

/** A transaction of a process on a lost machine must not hold its rows for hours. Bodies await nothing but queries. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000

const TRANSACTION_PATIENCE_MS = 60_000

/** After a wait for locks. An idle connection may have been lost silently; a new one gets more time. */
const IDLE_CONNECTION_PATIENCE_MS = 1_000

const ROLLBACK_PATIENCE_MS = 3_000

/**
 * Attempts of a body that keeps losing to other processes. Within this process, the second attempt is exclusive if
 * possible.
 */
const ATTEMPTS = 10
/** Maximum of the random pause between those attempts, so that two processes do not collide each time. */
const PAUSE_MS = 50

export class PostgresWriter {
  readonly #turns: Turns<Lane<PostgresTransaction>>
  readonly #set: Options
  readonly #idlePatienceMs: number
  readonly #inside = new AsyncLocalStorage<true>()
  readonly #unanswered = new Set<Promise<unknown>>()
  #closed = false

  constructor(
    options: Pick<LinkOptions, 'url' | 'counts'>,
    busyDeadlineMs: number,
    readonly onCommit: DatabaseEvents['onCommit'],
  ) {
    const settings = {
      lock_timeout: busyDeadlineMs,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    }
    // A statement of a set takes milliseconds, after a wait for its locks.
    this.#set = {
      isolation: 'read committed',
      patienceMs: Math.max(PATIENCE_MS, 2 * busyDeadlineMs),
      isPatientWithEach: true,
    }
    this.#idlePatienceMs = Math.min(PATIENCE_MS, busyDeadlineMs + IDLE_CONNECTION_PATIENCE_MS)
    this.#turns = new Turns(
      Array.from(
        { length: WRITERS },
        () => new Lane({ ...options, connections: 1, settings, isTransactional: true }, PostgresTransaction),
      ),
      busyDeadlineMs,
    )
  }

  write<Result>(
    body: (tx: Tx) => Promise<Result>,
    { isolation = 'repeatable read', patienceMs = TRANSACTION_PATIENCE_MS }: WriteOptions = {},
  ): Promise<Result> {
    return this.#accept(() => this.#writeBody(body, { isolation, patienceMs }))
  }

  setWriter<Item, Value>(
    record: (tx: Tx, items: readonly Item[]) => Promise<Outcome<Value>[]>,
  ): SetWriter<Item, Value> {
    const queue = new SetQueue(record as Recorder, (items) => this.#writeSet(record as Recorder, items))
    return (items) =>
      this.#accept(async () => (items.length === 0 ? [] : queue.add(items))) as Promise<Outcome<Value>[]>
  }

  /** Includes those that are being written. */
  waiting(): number {
    return this.#unanswered.size
  }

  /** Refuses new calls and resolves once the waiting ones are done. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#unanswered)
    await Promise.all(this.#turns.lanes.map((lane) => lane.close()))
  }

  async #accept<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    if (this.#inside.getStore()) throw new Error('write() was called inside write(): pass the tx on instead')
    if (this.#closed) throw databaseClosed()
    const answer = call()
    this.#unanswered.add(answer)
    try {
      return await answer
    } finally {
      this.#unanswered.delete(answer)
    }
  }

  async #writeBody<Result>(body: (tx: Tx) => Promise<Result>, options: Options): Promise<Result> {
    const startedAt = performance.now()
    const { value, effects } = await this.#writeWhole(body, options)
    this.onCommit(1, (performance.now() - startedAt) / 1000)
    // If an effect fails, its caller gets the error; the writes stay.
    for (const effect of effects) effect()
    return value
  }

  async #writeWhole<Result>(body: (tx: Tx) => Promise<Result>, options: Options): Promise<Committed<Result>> {
    for (let attempt = 1; ; attempt += 1) {
      const lane = await this.#turns.take(attempt > 1)
      try {
        return await this.#transact(lane, options, body)
      } catch (error) {
        if (!mayRetry(error, attempt)) throw asProblem(error)
      } finally {
        this.#turns.give(lane)
      }
      if (attempt > 1) await pause()
    }
  }

  /** Writes the items, or those that can be written, and settles each; the last ones are left if all would take long. */
  async #writeSet(record: Recorder, items: readonly TakenItem[], attempt = 1): Promise<void> {
    const isSingle = items.length === 1
    const startedAt = performance.now()
    let failure: unknown
    try {
      const lane = await this.#turns.take(isSingle && attempt > 1)
      try {
        const { effects } = await this.#transact(lane, this.#set, (tx) => recordItems(record, tx, items))
        const done = items.filter(({ outcome }) => outcome)
        this.onCommit(done.length, (performance.now() - startedAt) / 1000)
        runEffects(effects, done)
        for (const item of done) item.settle(item.outcome!)
        return
      } catch (error) {
        failure = error
      } finally {
        this.#turns.give(lane)
      }
    } catch (error) {
      // No lane became free.
      settleAll(items, error)
      return
    }
    if (mayRetry(failure, attempt) && (isSingle || attempt === 1)) {
      if (attempt > 1) await pause()
      await this.#writeSet(record, items, attempt + 1)
    } else if (isSingle || isForAll(failure)) {
      settleAll(items, failure)
    } else {
      const middle = items.length >> 1
      for (const half of [items.slice(0, middle), items.slice(middle)]) {
        // A set runs twice as it is, but its parts only once: another failure has its cause in one of the items.
        await this.#writeSet(record, half, half.length === 1 ? 1 : 2)
        if (leftOf(half).length > 0) return
      }
    }
  }

  async #transact<Result>(
    lane: Lane<PostgresTransaction>,
    options: Options,
    body: (tx: Tx) => Promise<Result>,
  ): Promise<Committed<Result>> {
    const { link } = lane
    const { isolation, patienceMs, isPatientWithEach = false } = options
    // It may also wait for one of the connections of a pooler.
    const beginPatienceMs = link.answered && !link.isPooled ? this.#idlePatienceMs : PATIENCE_MS
    // The body's first query is sent together with it.
    const begun = link.withPatience(beginPatienceMs, () => begin(link, isolation))
    const failedToBegin = begun.then(
      () => undefined,
      (error) => ({ error }),
    )
    const effects = link.queries.restart()
    const result = link.withPatience(patienceMs, (timer) => {
      const around: Around = (run) => {
        if (isPatientWithEach) timer.refresh()
        return run()
      }
      link.queries.around = around
      return this.#run(link, body, { begun, around })
    })
    // Handled below, but it may fail earlier.
    result.catch(() => undefined)
    const failed = await failedToBegin
    if (!failed) {
      link.answered = true
      return { value: await result, effects }
    }
    await result.catch(() => undefined)
    if (!link.answered || failureOf(failed.error) !== 'unreachable') throw failed.error
    link.lose()
    return this.#transact(lane, options, body)
  }

  async #run<Result>(
    link: Link<PostgresTransaction>,
    body: (tx: Tx) => Promise<Result>,
    { begun, around }: { begun: Promise<unknown>; around: Around },
  ): Promise<Result> {
    let value: Result
    try {
      value = await this.#inside.run(true, () => body(link.queries as unknown as Tx))
      await begun
    } catch (error) {
      // On a connection that is about to close, ROLLBACK would never return.
      if (link.lost || failureOf(error) === 'unreachable') link.lose()
      else await rollBack(link)
      throw error
    }
    let ended: string
    try {
      ended = (await around(async () => link.client.unsafe('COMMIT'))).command
    } catch (error) {
      if (failureOf(error) !== 'unreachable') throw error
      // Only a repeat of the request shows whether it was written.
      throw commitUnknown(error)
    }
    if (ended !== 'COMMIT')
      throw new Error(
        'A query failed inside the transaction, but the transaction function continued: nothing was written',
      )
    return value
  }
}

interface Options extends Required<WriteOptions> {
  /** Whether each of its statements may take that long, instead of the whole body. */
  isPatientWithEach?: boolean
}

interface Committed<Result> {
  value: Result
  effects: readonly (() => void)[]
}

function pause(): Promise<void> {
  return Bun.sleep(Math.random() * PAUSE_MS)
}

/**
 * Begins a transaction, if this version of Tally can use the database: a migration after which it cannot has locked
 * `revision`, so that it waits for this transaction, or this one for it, and sees what that migration has left. A SELECT
 * locks the table before it takes its snapshot, except where the transaction has one for all of its statements.
 */
async function begin(link: Link<PostgresTransaction>, isolation: string): Promise<void> {
  const lock = isolation === 'read committed' ? [] : ['LOCK TABLE revision IN ACCESS SHARE MODE']
  const results = await link.begin(`ISOLATION LEVEL ${isolation}`, ...lock, 'SELECT oldest_schema FROM revision')
  const [revision] = (results as unknown as { oldest_schema: string }[][]).at(-1)!
  requireCompatible(Number(revision!.oldest_schema))
}

function settleAll(items: readonly TakenItem[], error: unknown): void {
  for (const item of items) {
    item.outcome = { error }
    item.settle(item.outcome)
  }
}

/** On a connection that is lost meanwhile, it would never return. */
async function rollBack(link: Link<PostgresTransaction>): Promise<void> {
  await link.withPatience(ROLLBACK_PATIENCE_MS, () => link.client.unsafe('ROLLBACK')).catch(() => link.lose())
}

/** Failures for which no item of a set is responsible. */
const UNAVAILABLE: readonly unknown[] = ['busy', 'full', 'io', 'deadline', 'moved', 'unreachable', 'pooled']

const isForAll = (failure: unknown) =>
  UNAVAILABLE.includes(failureOf(failure)) || (failure instanceof Problem && failure.code === 'database_upgraded')

/** Errors that a concurrent commit may cause in a transaction that read before it. */
const OVERTAKEN: readonly unknown[] = ['unique', 'foreign_key']

/**
 * Whether another attempt may succeed. A violation that a concurrent commit explains is retried once: the body may have
 * read before that commit, or used a key from a cache.
 */
function mayRetry(error: unknown, attempt: number): boolean {
  const failure = failureOf(error)
  return (failure === 'serialization' && attempt < ATTEMPTS) || (OVERTAKEN.includes(failure) && attempt === 1)
}
