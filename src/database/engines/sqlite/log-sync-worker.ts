/**
 * Syncs the write-ahead log on request, on a thread that does nothing else: the runtime's shared thread pool also
 * hashes passwords and reads files, and a report must not wait for those.
 */
import { fdatasyncSync } from 'node:fs'

declare const self: Worker

export interface LogToSync {
  /** The descriptor of the log, which all threads of the process share. */
  file: number
  /** An `Int32Array` of one element, which grows by 1 with each request. */
  requests: SharedArrayBuffer
}

/** The result of a sync: null on success. */
export type Synced = { error: { message: string; code?: string } } | null

const post = (synced: Synced) => self.postMessage(synced)

// Blocks the thread instead of returning to its event loop, which would take longer to wake up.
self.onmessage = ({ data: { file, requests } }: MessageEvent<LogToSync>) => {
  const requested = new Int32Array(requests)
  for (let served = 0; ; ) {
    Atomics.wait(requested, 0, served)
    // Two requests never overlap, so this is the one that woke the thread; it may wrap around.
    served = Atomics.load(requested, 0)
    try {
      fdatasyncSync(file)
      post(null)
    } catch (error) {
      const { message, code } = error as { message: string; code?: string }
      post({ error: { message, ...(code !== undefined && { code }) } })
    }
  }
}
