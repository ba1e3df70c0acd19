/** A lock that the system ends together with the process, however that ends. Only one watcher runs in a home folder. */
import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import { stateFolder } from '../state-folder.ts'

/** Longer than {@link isWatching} takes. */
const PATIENCE_MS = 1_000

const lockPath = (environment: AgentsEnvironment) => join(stateFolder(environment), 'watch.lock')

export const takeWatchLock = (environment: AgentsEnvironment) => takeLock(lockPath(environment), PATIENCE_MS)

/** An empty database, whose lock works on every system; undefined if another process has it. Held until it is closed. */
export function takeLock(path: string, patienceMs: number): Disposable | undefined {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const database = new Database(path, { create: true })
  try {
    database.run(`PRAGMA busy_timeout = ${patienceMs}`)
    database.run('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw error
    return undefined
  }
}

export function isWatching(environment: AgentsEnvironment): boolean {
  let database: Database | undefined
  try {
    database = new Database(lockPath(environment), { readonly: true })
    database.query('SELECT 1 FROM sqlite_schema').get()
    return false
  } catch (error) {
    // Without a file, nobody has ever watched.
    return isBusy(error)
  } finally {
    database?.close()
  }
}

function isBusy(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'SQLITE_BUSY'
}
