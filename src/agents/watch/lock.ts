/** Only one watcher runs in a home folder. The system ends its lock together with the process, however that ends. */
import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import { stateFolder } from '../state-folder.ts'

/** Longer than {@link isWatching} takes. */
const PATIENCE_MS = 1_000

const lockPath = (environment: AgentsEnvironment) => join(stateFolder(environment), 'watch.lock')

/** An empty database, whose lock works on every system; undefined if another process has it. Held until it is closed. */
export function takeWatchLock(environment: AgentsEnvironment): Disposable | undefined {
  mkdirSync(stateFolder(environment), { recursive: true, mode: 0o700 })
  const database = new Database(lockPath(environment), { create: true })
  try {
    database.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
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
