/** Opens the configured database, migrated and ready. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { Database, DatabaseEvents } from './database.ts'
import type { ReplicaAddress } from './engines/slow/source.ts'
import { emptyLogOfFullDisk } from './engines/sqlite/own-checkpoints.ts'
import { openSqlite } from './engines/sqlite/sqlite.ts'
import { asProblem, failureOf } from './errors.ts'
import { asWrongFile, migrateSqlite } from './schema/migrate.ts'
import type { StatementCounts } from './statement-counts.ts'
import { WrongDatabase } from './wrong-database.ts'

export const DATABASE_FILE = 'tally.db'

/** A longer query is refused with 503; a person would have given up as well. */
const SLOW_DEADLINE_MS = 5_000

/** Transactions of a command line take milliseconds, so a longer wait means that something is stuck. */
const BUSY_DEADLINE_MS = 5_000

export interface OpenOptions extends Partial<DatabaseEvents> {
  /** The folder of the embedded database, created if it is missing. */
  dataDir: string
  /** `postgres://…` to keep everything in PostgreSQL instead. */
  databaseUrl?: string | undefined
  /** A replica of that database, which answers slow reads of callers. */
  replica?: ReplicaAddress | undefined
  clock: Clock
  /** Whether the process serves: slow reads then run in processes of their own, and checkpoints on a thread. */
  serving?: boolean
  /** Time limit of a query on `db.slow`. */
  slowDeadlineMs?: number
  /** What a query on `db.slow` may still take when its caller has left, if a test cannot depend on the machine's speed. */
  slowGraceMs?: number
  /** What a process for slow reads may take to start, for the same reason. */
  slowStartMs?: number
  /** How long `db.write` waits for locks of other transactions. */
  busyDeadlineMs?: number
  /** The command that starts the processes for slow reads, if a test has tasks of its own. */
  slowProgram?: readonly string[]
  /** Where statements are counted, if a test wants to know. */
  counts?: StatementCounts
}

/**
 * Throws `WrongDatabase` if the database belongs to another program or a newer Tally, or cannot be opened, and a
 * Problem if it stays locked, has no space left or does not respond.
 */
export async function openDatabase({
  dataDir,
  databaseUrl,
  replica,
  clock,
  serving = false,
  // By default, only the caller gets the error; a command then ends with it.
  onFatal = () => {},
  onReadError = () => {},
  onBlockedLog = () => {},
  onReplica = () => {},
  onCommit = () => {},
  slowDeadlineMs = SLOW_DEADLINE_MS,
  slowGraceMs,
  slowStartMs,
  busyDeadlineMs = BUSY_DEADLINE_MS,
  slowProgram,
  counts,
}: OpenOptions): Promise<Database> {
  const settings = { serving, slowProgram, slowDeadlineMs, slowGraceMs, slowStartMs, busyDeadlineMs, onCommit, counts }
  if (databaseUrl) {
    // Loaded only if used: the client takes a sixth of the time of a command on the embedded database.
    const { openPostgres } = await import('./engines/postgres/postgres.ts')
    return openPostgres({ url: databaseUrl, replica, onReplica, now: clock.now(), ...settings })
  }
  makeFolder(dataDir)
  const path = join(dataDir, DATABASE_FILE)
  try {
    if (serving) emptyLogOfFullDisk(path)
    migrateSqlite(path, clock.now())
    return openSqlite({ path, onFatal, onReadError, onBlockedLog, ...settings })
  } catch (error) {
    throw asProblem(asWrongFile(error, path))
  }
}

/** Whether the disk failed, or the file is no longer a Tally database. */
export const isDiskError = (error: unknown): boolean => failureOf(error) === 'io'

function makeFolder(path: string): void {
  try {
    // Readable by its owner only: it contains people's costs and their clients.
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    throw new WrongDatabase(`The folder ${path} cannot be created (${reason}). Choose another with --data.`)
  }
}
