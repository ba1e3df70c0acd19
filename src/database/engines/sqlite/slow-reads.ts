/**
 * Slow reads on SQLite: the same stores, but each query runs on a worker with its own read-only connection, so that a
 * report over ten million entries does not block the main thread.
 */
import { drizzle } from 'drizzle-orm/sqlite-proxy'
import type { Reader } from '../../database.ts'
import { databaseClosed, overloaded, tookTooLong } from '../../errors.ts'
import { sqliteTables } from '../../schema/tables.ts'
import { asProblems, Queries, runThrough } from '../queries.ts'

/** Queries at a time. With a second lane a short query can pass a long one; a third would find no core. */
const LANES = 2

/**
 * Maximum number of threads, including those with abandoned queries: bun:sqlite cannot interrupt a query, and a
 * terminated worker uses its core until the query ends. Beyond the limit, queries are refused, so that not all cores
 * are used.
 */
const THREAD_LIMIT = 3

/**
 * How long a query waits for the first lane before the second one starts: most are done by then, and a thread costs
 * memory.
 */
const SECOND_LANE_AFTER_MS = 50

/** Idle time after which the second lane's thread ends and releases its memory. */
const SECOND_LANE_IDLE_MS = 10_000

/** Maximum number of waiting queries. One person's open dashboards send fewer. */
const QUEUE_LIMIT = 200

interface Question {
  sql: string
  params: unknown[]
  resolve: (rows: unknown[][]) => void
  reject: (error: unknown) => void
  /** Refuses the query if it has waited too long. */
  timer: Timer
}

type Answer = { rows: unknown[][] } | { error: { message: string; code?: string } }

/** A thread and its current query. */
interface Lane {
  worker: Worker
  question: Question | undefined
  /** Abandons the query at its deadline; without a query, ends the thread if it is not the only one. */
  timer: Timer | undefined
}

class SlowWorkers {
  readonly #queue: Question[] = []
  readonly #lanes = new Set<Lane>()
  /** Threads that have not ended yet, including abandoned ones. */
  #threads = 0
  #secondLane: Timer | undefined
  #isHeld = false
  #whenNoneRuns = () => {}
  #closed = false

  constructor(
    readonly path: string,
    readonly deadlineMs: number,
    readonly onError: (error: unknown) => void,
  ) {}

  /** The deadline applies to the query itself; it may wait for its turn as long again. */
  ask(sql: string, params: unknown[]): Promise<unknown[][]> {
    if (this.#closed) return Promise.reject(databaseClosed())
    if (this.#queue.length >= QUEUE_LIMIT) return Promise.reject(overloaded())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#queue.splice(this.#queue.indexOf(question), 1)
        reject(overloaded())
      }, this.deadlineMs)
      const question: Question = { sql, params, resolve, reject, timer }
      this.#queue.push(question)
      this.#next()
    })
  }

  /** Starts no query before `release`. Resolves when none is running, or with false when the time is over. */
  hold(forMs: number): Promise<boolean> {
    this.#isHeld = true
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, forMs, false)
      this.#whenNoneRuns = () => {
        if ([...this.#lanes].some(({ question }) => question)) return
        clearTimeout(timer)
        resolve(true)
      }
      this.#whenNoneRuns()
    })
  }

  release(): void {
    this.#isHeld = false
    this.#next()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#secondLane)
    this.#refuseWaiting(databaseClosed())
    for (const lane of this.#lanes) {
      lane.question?.reject(databaseClosed())
      this.#end(lane)
    }
    this.#whenNoneRuns()
  }

  #next(): void {
    if (this.#isHeld) {
      this.#whenNoneRuns()
      return
    }
    for (const lane of this.#lanes) if (!lane.question) this.#run(lane)
    if (this.#queue.length === 0 || this.#closed) return
    if (this.#lanes.size === 0) {
      if (this.#threads < THREAD_LIMIT) this.#run(this.#open())
      else this.#refuseWaiting(overloaded())
    } else {
      this.#secondLane ??= setTimeout(() => this.#openSecond(), SECOND_LANE_AFTER_MS)
    }
  }

  #openSecond(): void {
    this.#secondLane = undefined
    if (this.#isHeld || this.#queue.length === 0 || this.#lanes.size >= LANES || this.#threads >= THREAD_LIMIT) return
    this.#run(this.#open())
  }

  /** Gives a free lane the query that has waited longest. */
  #run(lane: Lane): void {
    const question = this.#queue.shift()
    if (!question) return
    clearTimeout(question.timer)
    clearTimeout(lane.timer)
    lane.question = question
    lane.timer = setTimeout(() => this.#giveUp(lane), this.deadlineMs)
    lane.worker.postMessage({ sql: question.sql, params: question.params })
  }

  #open(): Lane {
    const worker = new Worker(new URL('./slow-reads-worker.ts', import.meta.url).href, { smol: true })
    const lane: Lane = { worker, question: undefined, timer: undefined }
    this.#threads += 1
    worker.addEventListener('close', () => {
      this.#threads -= 1
    })
    worker.onmessage = ({ data }: MessageEvent<Answer>) => this.#answer(lane, data)
    worker.onerror = ({ message }) => {
      if (!this.#lanes.has(lane)) return
      lane.question?.reject(new Error(`The worker for slow reads failed: ${message}`))
      this.#end(lane)
      this.#next()
    }
    worker.postMessage({ open: this.path })
    this.#lanes.add(lane)
    return lane
  }

  #answer(lane: Lane, answer: Answer): void {
    // Results of abandoned threads are ignored.
    if (!this.#lanes.has(lane) || !lane.question) return
    const { resolve, reject } = lane.question
    lane.question = undefined
    clearTimeout(lane.timer)
    if ('rows' in answer) resolve(answer.rows)
    else {
      const error = Object.assign(new Error(answer.error.message), { code: answer.error.code })
      this.onError(error)
      reject(error)
    }
    this.#next()
    if (!lane.question) lane.timer = setTimeout(() => this.#endIdle(lane), SECOND_LANE_IDLE_MS)
  }

  #endIdle(lane: Lane): void {
    if (this.#lanes.size > 1) this.#end(lane)
  }

  /** Drops the thread together with its query. */
  #giveUp(lane: Lane): void {
    lane.question?.reject(tookTooLong())
    this.#end(lane)
    this.#next()
  }

  #end(lane: Lane): void {
    clearTimeout(lane.timer)
    this.#lanes.delete(lane)
    lane.worker.terminate()
  }

  #refuseWaiting(reason: unknown): void {
    for (const { timer, reject } of this.#queue.splice(0)) {
      clearTimeout(timer)
      reject(reason)
    }
  }
}

export interface SlowReader extends Pick<SlowWorkers, 'hold' | 'release' | 'close'> {
  reader: Reader
}

/** @param onError is called with SQLite's error if a query fails */
export function openSlowReader(path: string, deadlineMs: number, onError: (error: unknown) => void): SlowReader {
  const workers = new SlowWorkers(path, deadlineMs, onError)
  const orm = drizzle(async (sql, params, method) => {
    const rows = await workers.ask(sql, params)
    return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
  })
  runThrough(orm, asProblems)
  const reader = Object.assign(new Queries(orm, sqliteTables), {
    revision: async () => Number((await workers.ask('SELECT value FROM revision', []))[0]![0]),
  })
  return {
    reader: reader as unknown as Reader,
    hold: (forMs) => workers.hold(forMs),
    release: () => workers.release(),
    close: () => workers.close(),
  }
}
