/** Exports of entries as CSV: ten million rows take minutes of a processor, which must not be the one that takes reports. */

import type { Viewer } from '../../../access/visibility.ts'
import type { Database } from '../../../database/database.ts'
import { asProblem } from '../../../database/errors.ts'
import { entriesCsv } from './csv-export.ts'
import type { EntryFilter } from './filter.ts'
import type { ExportQuestion } from './store/export.ts'

export interface BeginExport {
  id: number
  file: string
  question: ExportQuestion
}

export type ToExports =
  | BeginExport
  /** Asks for the next page. */
  | { id: number }
  | { id: number; stop: true }
export type FromExports =
  | { id: number; bytes: Uint8Array }
  | { id: number; end: true }
  | { id: number; error: { message: string; code: string | undefined } }

type Waiting = PromiseWithResolvers<Uint8Array | undefined>

/** Programs fetch one export after the other; each would otherwise begin a thread of its own. */
const IDLE_MS = 10_000

/** One thread for all exports, which take turns page by page. It ends some time after the last of them. */
class ExportThread {
  #worker: Worker | undefined
  #idle: Timer | undefined
  readonly #waiting = new Map<number, Waiting>()
  #open = 0
  #lastId = 0

  async *export(file: string, question: ExportQuestion): AsyncGenerator<Uint8Array> {
    const id = ++this.#lastId
    this.#open += 1
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    this.#worker.ref()
    try {
      this.#post({ id, file, question })
      // A page is written while the one before is sent.
      let coming = this.#ask(id)
      for (let bytes = await coming; bytes; bytes = await coming) {
        coming = this.#ask(id)
        // Told to whoever waits for it, and nobody does where the reader goes before.
        coming.catch(() => {})
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

  #ask(id: number): Promise<Uint8Array | undefined> {
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
    /** Every entry that the filter lets through, newest first, as the bytes of a CSV: read on only as fast as they are taken. */
    async *exportCsv(viewer: Viewer, filter: EntryFilter): AsyncGenerator<Uint8Array> {
      const question = { viewer, filter }
      if (db.file !== undefined) yield* thread.export(db.file, question)
      else for await (const text of entriesCsv(db.slow, question)) yield encoder.encode(text)
    },
  }
}
