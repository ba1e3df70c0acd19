/** Backups of the embedded database, while a server may be writing to it. */
import { Database as Connection } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import type { Copy } from './copy.ts'
import { removeUnfinished, sizeOf, unfinishedName } from './copy.ts'
import { identityIn } from './identity.ts'
import { backupName } from './names.ts'

/** How often progress is reported. */
const PROGRESS_MS = 200

type Told = { copy: Copy } | { error: { message: string; code?: string } }

interface BackUpOptions {
  /** The database file. */
  from: string
  /** The path must not exist. */
  to: string
  madeAt: number
  /** Receives the bytes copied so far and the approximate total. */
  progress?: (done: number, total: number) => void
  signal?: AbortSignal
}

/**
 * Copies the database as it is at one moment, and verifies the copy: its pages, its references, and that it is Tally's.
 * Throws if the file exists, space is missing or the copy is damaged; an incomplete copy is removed.
 */
export async function backUp({ from, to, madeAt, progress, signal }: BackUpOptions): Promise<Copy> {
  if (existsSync(to)) throw new Error(`${to} already exists. A backup never overwrites a file; choose another name.`)
  const total = progress ? sizeOfFile(from) : 0
  const looking = progress && setInterval(() => progress(bytesOf(unfinishedName(to)), total), PROGRESS_MS)
  try {
    return await copyOnThread({ from, to, madeAt }, signal)
  } finally {
    clearInterval(looking)
  }
}

function copyOnThread(
  task: Pick<BackUpOptions, 'from' | 'to' | 'madeAt'>,
  signal: AbortSignal | undefined,
): Promise<Copy> {
  const worker = new Worker(new URL('./backup-worker.ts', import.meta.url).href)
  const { promise, resolve, reject } = Promise.withResolvers<Copy>()
  worker.onmessage = ({ data }: MessageEvent<Told>) => {
    if ('copy' in data) resolve(data.copy)
    else reject(Object.assign(new Error(data.error.message), { code: data.error.code }))
  }
  worker.onerror = ({ message }) => reject(new Error(`The backup thread failed: ${message}`))
  signal?.addEventListener('abort', () => reject(new Error('The backup was canceled.')), { once: true })
  worker.postMessage(task)
  return promise.finally(() => {
    worker.terminate()
    // A thread that is terminated in the middle removes nothing.
    removeUnfinished(task.to)
  })
}

/** The name of a backup of the database in a file. */
export const nameFor = (from: string, madeAt: number): string =>
  backupName({ madeAt, timeline: identityIn(from)?.timeline })

function sizeOfFile(path: string): number {
  const connection = new Connection(path, { readonly: true })
  try {
    return sizeOf(connection)
  } finally {
    connection.close()
  }
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
