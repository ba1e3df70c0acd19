/**
 * Exports entries as CSV on a thread: ten million rows take minutes of CPU time, which must not block incoming reports.
 */

import type { Viewer } from '../../../access/visibility.ts'
import type { Database } from '../../../database/database.ts'
import { asProblem } from '../../../database/errors.ts'
import { entriesCsv } from './csv-export.ts'
import type { EntryFilter } from './filter.ts'
import type { ExportRequest } from './store/export.ts'

export interface BeginExport {
  id: number
  file: string
  request: ExportRequest
}

export type ToExports =
  | BeginExport
  /** Requests the next page. */
  | { id: number }
  | { id: number; stop: true }
export type FromExports =
  | { id: number; bytes: Uint8Array }
  | { id: number; end: true }
  | { id: number; error: { message: string; code: string | undefined } }

type Waiting = PromiseWithResolvers<Uint8Array | undefined>

/** Programs fetch one export after the other; without this, each would start a thread of its own. */
const IDLE_MS = 10_000

/** One thread for all exports, which alternate page by page. It ends when it has been idle for {@link IDLE_MS}. */
class ExportThread {
  #worker: Worker | undefined
  #idle: Timer | undefined
  readonly #waiting = new Map<number, Waiting>()
  #open = 0
  #lastId = 0

  async *export(file: string, request: ExportRequest): AsyncGenerator<Uint8Array> {
    const id = ++this.#lastId
    this.#open += 1
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    this.#worker.ref()
    try {
      this.#post({ id, file, request })
      // A page is written while the previous one is sent.
      let next = this.#requestPage(id)
      for (let bytes = await next; bytes; bytes = await next) {
        next = this.#requestPage(id)
        // The awaiting reader gets the error. If the reader has left, no one does, and it must not become an unhandled
        // rejection.
        next.catch(() => {})
        yield bytes
      }
    } finally {
      this.#open -= 1
      this.#waiting.delete(id)
      this.#post({ id, stop: true })
      if (this.#open === 0) {
        this.#worker?.unref()
        this.#idle = setTimeout(() => this.#end(), IDLE_MS)
        this.#idle.unref()
      }
    }
  }

  #post(message: ToExports): void {
    this.#worker?.postMessage(message)
  }

  #requestPage(id: number): Promise<Uint8Array | undefined> {
    const waiting: Waiting = Promise.withResolvers()
    this.#waiting.set(id, waiting)
    this.#post({ id })
    return waiting.promise
  }

  #start(): Worker {
    const worker = new Worker(new URL('./export-worker.ts', import.meta.url).href, { smol: true })
    worker.onmessage = ({ data }: MessageEvent<FromExports>) => {
      const waiting = this.#waiting.get(data.id)
      if ('error' in data) {
        waiting?.reject(asProblem(Object.assign(new Error(data.error.message), { code: data.error.code })))
      } else waiting?.resolve('bytes' in data ? data.bytes : undefined)
    }
    worker.onerror = ({ message }) => {
      this.#end()
      for (const { reject } of this.#waiting.values()) reject(new Error(`The export worker failed: ${message}`))
    }
    return worker
  }

  #end(): void {
    clearTimeout(this.#idle)
    this.#worker?.terminate()
    this.#worker = undefined
  }
}

export function createExports({ db }: { db: Database }) {
  const thread = new ExportThread()
  const encoder = new TextEncoder()
  return {
    /** All entries that match the filter, newest first, as the bytes of a CSV; reads only as fast as the consumer. */
    async *exportCsv(viewer: Viewer, filter: EntryFilter): AsyncGenerator<Uint8Array> {
      const request = { viewer, filter }
      if (db.file !== undefined) yield* thread.export(db.file, request)
      else for await (const text of entriesCsv(db.slow, request)) yield encoder.encode(text)
    },
  }
}
