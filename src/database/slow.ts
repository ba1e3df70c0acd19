/**
 * Slow reads on SQLite: the same stores, but each query runs on a worker with a read-only connection of its own, so a
 * report over ten million entries does not keep the main thread from taking the next entry.
 */
import { drizzle } from 'drizzle-orm/sqlite-proxy'
import { Problem } from '../errors.ts'
import type { Prepared, Reader } from './database.ts'
import { sqliteTables, type Tables } from './tables.ts'

/** An interactive question that takes longer is answered 503; a person would have given up as well. */
const DEADLINE_MS = 5_000

interface Waiting {
  resolve: (rows: unknown[][]) => void
  reject: (error: unknown) => void
  timer: Timer
}

export function openSlowReader(path: string): { reader: Reader; close(): Promise<void> } {
  const waiting = new Map<number, Waiting>()
  let worker = start()
  let lastId = 0

  function start(): Worker {
    const started = new Worker(new URL('./slow-worker.ts', import.meta.url).href)
    started.postMessage({ open: path })
    started.onmessage = ({ data }: MessageEvent<{ id: number; rows?: unknown[][]; error?: string }>) => {
      const asked = waiting.get(data.id)
      if (!asked) return
      waiting.delete(data.id)
      clearTimeout(asked.timer)
      if (data.rows) asked.resolve(data.rows)
      else asked.reject(new Error(data.error))
    }
    return started
  }

  /** bun:sqlite cannot interrupt a query, so the worker goes, and with it every question that waits behind. */
  function giveUp(): void {
    worker.terminate()
    const problem = new Problem(
      'database_deadline',
      `The question took over ${DEADLINE_MS / 1000} s. Narrow the period or the filters.`,
    )
    for (const asked of waiting.values()) {
      clearTimeout(asked.timer)
      asked.reject(problem)
    }
    waiting.clear()
    worker = start()
  }

  function ask(sql: string, params: unknown[]): Promise<unknown[][]> {
    return new Promise((resolve, reject) => {
      lastId += 1
      waiting.set(lastId, { resolve, reject, timer: setTimeout(giveUp, DEADLINE_MS) })
      worker.postMessage({ id: lastId, sql, params })
    })
  }

  const orm = drizzle(async (sql, params, method) => {
    const rows = await ask(sql, params)
    return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
  })
  const preparedQueries = new Map<string, Prepared<never>>()
  const reader = {
    tables: sqliteTables as unknown as Tables,
    select: orm.select.bind(orm),
    selectDistinct: orm.selectDistinct.bind(orm),
    with: orm.with.bind(orm),
    revision: async () => Number((await ask('SELECT value FROM revision', []))[0]![0]),
    prepared(key: string, build: (reader: never) => { prepare(name: string): unknown }) {
      let prepared = preparedQueries.get(key)
      if (!prepared) {
        prepared = build(reader as never).prepare(key) as Prepared<never>
        preparedQueries.set(key, prepared)
      }
      return prepared
    },
  }
  return {
    reader: reader as unknown as Reader,
    async close() {
      worker.terminate()
      for (const asked of waiting.values()) clearTimeout(asked.timer)
    },
  }
}
