/**
 * Slow reads on SQLite: the same stores, but each query runs on a worker with a read-only connection of its own, so a
 * report over ten million entries does not keep the main thread from taking the next entry.
 */
import { drizzle } from 'drizzle-orm/sqlite-proxy'
import type { Reader } from './database.ts'
import { databaseClosed, overloaded, tookTooLong } from './errors.ts'
import { Queries, tellProblems } from './queries.ts'
import { sqliteTables } from './tables.ts'

/**
 * Workers at a time, with those whose question nobody waits for any more: bun:sqlite cannot interrupt a query, and a
 * terminated worker keeps its core until the query ends. One may run on beside the one that serves; past that,
 * questions are refused rather than all cores taken.
 */
const WORKER_LIMIT = 2

interface Question {
  sql: string
  params: unknown[]
  resolve: (rows: unknown[][]) => void
  reject: (error: unknown) => void
  timer: Timer
}

type Answer = { id: number; rows: unknown[][] } | { id: number; error: { message: string; code?: string } }

class SlowWorker {
  /** In the order in which they were asked; the worker is at the first. */
  readonly #waiting = new Map<number, Question>()
  #worker: Worker | undefined
  /** Workers whose threads have not ended yet. */
  #running = 0
  #lastId = 0
  #closed = false

  constructor(
    readonly path: string,
    readonly deadlineMs: number,
  ) {}

  ask(sql: string, params: unknown[]): Promise<unknown[][]> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      const timer = setTimeout(() => this.#giveUp(id), this.deadlineMs)
      this.#send(id, { sql, params, resolve, reject, timer })
    })
  }

  close(): void {
    this.#closed = true
    this.#refuseAll(databaseClosed())
    this.#worker?.terminate()
  }

  #send(id: number, question: Question): void {
    if (!this.#worker && !this.#closed && this.#running < WORKER_LIMIT) this.#worker = this.#start()
    if (!this.#worker || this.#closed) {
      clearTimeout(question.timer)
      question.reject(this.#closed ? databaseClosed() : overloaded())
      return
    }
    this.#waiting.set(id, question)
    this.#worker.postMessage({ id, sql: question.sql, params: question.params })
  }

  #start(): Worker {
    const worker = new Worker(new URL('./slow-worker.ts', import.meta.url).href)
    this.#running += 1
    worker.addEventListener('close', () => {
      this.#running -= 1
    })
    worker.onmessage = ({ data }: MessageEvent<Answer>) => this.#answer(data)
    worker.onerror = ({ message }) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#refuseAll(new Error(`The worker for slow reads failed: ${message}`))
    }
    worker.postMessage({ open: this.path })
    return worker
  }

  #answer(answer: Answer): void {
    const question = this.#waiting.get(answer.id)
    if (!question) return
    this.#waiting.delete(answer.id)
    clearTimeout(question.timer)
    if ('rows' in answer) question.resolve(answer.rows)
    else question.reject(Object.assign(new Error(answer.error.message), { code: answer.error.code }))
  }

  /** The worker goes with the question that keeps it; those behind are asked again on a new one. */
  #giveUp(id: number): void {
    this.#worker?.terminate()
    this.#worker = undefined
    this.#waiting.get(id)?.reject(tookTooLong())
    this.#waiting.delete(id)
    const behind = [...this.#waiting]
    this.#waiting.clear()
    for (const [later, question] of behind) this.#send(later, question)
  }

  #refuseAll(reason: unknown): void {
    for (const question of this.#waiting.values()) {
      clearTimeout(question.timer)
      question.reject(reason)
    }
    this.#waiting.clear()
  }
}

export interface SlowReader {
  reader: Reader
  close(): void
}

export function openSlowReader(path: string, deadlineMs: number): SlowReader {
  const worker = new SlowWorker(path, deadlineMs)
  const orm = drizzle(async (sql, params, method) => {
    const rows = await worker.ask(sql, params)
    return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
  })
  tellProblems(orm)
  const reader = Object.assign(new Queries(orm, sqliteTables), {
    revision: async () => Number((await worker.ask('SELECT value FROM revision', []))[0]![0]),
  })
  return { reader: reader as unknown as Reader, close: () => worker.close() }
}
