import type { FromCheckpoints, ToCheckpoints } from './checkpoint-worker.ts'

interface CheckpointsOptions {
  path: string
  /** Descriptor of the database file. */
  database: number
  /** Starts no slow read until `resume`. Resolves when none is running, or with false when the time is over. */
  holdReads(forMs: number): Promise<boolean>
  /** Starts no transaction until `resume`. Resolves when none is open. */
  pause(): Promise<void>
  resume(): void
  onBlocked(reader: { seconds: number; logBytes: number }): void
  onOverwritten(): void
  onFatal(error: unknown): void
}

/** Runs checkpoints on a worker thread. The process exits if the thread cannot write or sync, or if it ends. */
export function startCheckpoints(options: CheckpointsOptions) {
  const { path, database, holdReads, pause, resume, onBlocked, onOverwritten, onFatal } = options
  const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url).href, { smol: true })
  const ended = Promise.withResolvers<void>()
  let isEnding = false
  const end = () => {
    isEnding = true
    worker.terminate()
    ended.resolve()
  }
  const fail = (error: unknown) => {
    if (isEnding) return
    end()
    onFatal(error)
  }
  const post = (message: ToCheckpoints) => worker.postMessage(message)
  worker.onerror = ({ message }) => fail(new Error(`The checkpoint thread failed: ${message}`))
  worker.addEventListener('close', () => fail(new Error('The checkpoint thread exited.')))
  worker.onmessage = async ({ data }: MessageEvent<FromCheckpoints>) => {
    if (data === 'resume') resume()
    else if (data === 'stopped') end()
    else if (data === 'overwritten') onOverwritten()
    else if (data === 'pause' || 'holdReads' in data) {
      const isDone = data === 'pause' ? await pause().then(() => true) : await holdReads(data.holdReads.forMs)
      if (!isEnding) post({ isDone })
    } else if ('blocked' in data) onBlocked(data.blocked)
    else fail(Object.assign(new Error(data.error.message), { code: data.error.code }))
  }
  post({ path, database })
  return {
    stop(): Promise<void> {
      if (!isEnding) post('stop')
      return ended.promise
    },
  }
}
