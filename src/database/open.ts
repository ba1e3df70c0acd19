/** Opens the database that the configuration names, migrated and ready. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { Database, DatabaseEvents } from './database.ts'
import { migrateSqlite } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

export const DATABASE_FILE = 'tally.db'

export interface OpenOptions extends Partial<DatabaseEvents> {
  /** The folder of the embedded database, made where it is missing. */
  dataDir: string
  /** `postgres://…` to keep everything in PostgreSQL instead. */
  databaseUrl?: string | undefined
  clock: Clock
  /** Whether the process serves: slow reads and checkpoints then run on workers. */
  serving?: boolean
}

/** Throws `WrongDatabase` where the database is another program's or a newer Tally's. */
export async function openDatabase({
  dataDir,
  databaseUrl,
  clock,
  serving = false,
  onFatal,
}: OpenOptions): Promise<Database> {
  if (databaseUrl) return openPostgres({ url: databaseUrl, now: clock.now() })
  // Readable by its owner only: it holds what people cost and who they work for.
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, DATABASE_FILE)
  migrateSqlite(path, clock.now())
  return openSqlite({
    path,
    workers: serving,
    onFatal:
      onFatal ??
      ((error) => {
        throw error
      }),
  })
}
