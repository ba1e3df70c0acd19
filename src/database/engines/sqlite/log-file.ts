import { closeSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { LogToSync, Synced } from './log-sync-worker.ts'

/** The write-ahead log, as a file to sync. It stays the same file as long as any connection is open. */
export class LogFile {
  readonly #file: number
  readonly #worker: Worker
  readonly #requested = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  #pending: PromiseWithResolvers<void> | undefined
  #closed = false

  /** @param onFatal is called if the thread ends unexpectedly, even while nothing is being synced */
  constructor(path: string, onFatal: (error: unknown) => void) {
    this.#file = openSync(`${path}-wal`, 'r+')
    syncFolder(dirname(path))
    this.#worker = new Worker(new URL('./log-sync-worker.ts', import.meta.url).href, { smol: true })
    this.#worker.onmessage = ({ data }: MessageEvent<Synced>) => this.#answer(data)
    const ended = (reason: string) => {
      if (this.#closed) return
      this.#closed = true
      const error = new Error(`The log sync thread exited: ${reason}`)
      this.#pending?.reject(error)
      onFatal(error)
    }
    this.#worker.onerror = ({ message }) => ended(message)
    this.#worker.addEventListener('close', () => ended('it closed'))
    this.#worker.postMessage({
      file: this.#file,
      requests: this.#requested.buffer as SharedArrayBuffer,
    } satisfies LogToSync)
  }

  /** Resolves when all previous writes are durable. One call at a time. */
  sync(): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('The log is closed.'))
    this.#pending = Promise.withResolvers()
    Atomics.add(this.#requested, 0, 1)
    Atomics.notify(this.#requested, 0)
    return this.#pending.promise
  }

  close(): void {
    this.#closed = true
    this.#worker.terminate()
    closeSync(this.#file)
  }

  #answer(synced: Synced): void {
    if (synced) this.#pending?.reject(Object.assign(new Error(synced.error.message), { code: synced.error.code }))
    else this.#pending?.resolve()
  }
}

/**
 * For a new log file, whose name is durable only after its folder is synced. Windows cannot and need not sync folders.
 */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}
