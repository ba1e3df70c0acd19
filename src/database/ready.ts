import { sql } from 'drizzle-orm'
import { Problem } from '../errors.ts'
import type { ReplicaState } from './caller.ts'
import type { Database } from './database.ts'
import { databaseMoved, retryAfterRestart } from './errors.ts'
import { SCHEMA_VERSION } from './schema/compatibility.ts'

/** Anyone may call this, and each probe writes to the disk: more frequent calls get the last result. */
const PROBE_EVERY_MS = 1_000

export interface Readiness {
  /** Undefined without one. A server whose replica cannot be used is as ready as one without. */
  replica: ReplicaState | undefined
}

/**
 * Resolves if the database can be written, which is tested, and this program can use its schema. A newer Tally may have
 * migrated it while the server runs, or a person may have put an older one in its place.
 */
export function readinessOf(db: Database): () => Promise<Readiness> {
  let probedAt = Number.NEGATIVE_INFINITY
  let isProbing = false
  let probed = Promise.resolve()
  const probe = () => {
    if (isProbing || performance.now() - probedAt < PROBE_EVERY_MS) return probed
    isProbing = true
    probed = db.probe().finally(() => {
      isProbing = false
      probedAt = performance.now()
    })
    return probed
  }
  return async () => {
    await probe()
    await requireSchema(db)
    await refuseMoved(db)
    return { replica: await db.replica?.() }
  }
}

async function requireSchema(db: Database): Promise<void> {
  // Also throws if a newer version has changed what this one uses.
  await db.read.revision()
  const { migrations } = db.read.tables
  const applied = await db.read.select({ version: migrations.version }).from(migrations)
  const version = Math.max(...applied.map((row) => row.version))
  if (version >= SCHEMA_VERSION) return
  throw new Problem(
    'database_upgraded',
    `The database has schema version ${version}, but this server expects ${SCHEMA_VERSION}. Restart the server.`,
    retryAfterRestart,
  )
}

/** Reads are answered meanwhile, but what is reported belongs into the other database. */
async function refuseMoved(db: Database): Promise<void> {
  const { moves } = db.read.tables
  const [move] = await db.read.select({ move: moves.move }).from(moves)
  if (move) throw databaseMoved()
}

/** What the clock of the database server says; null if it is this machine's. */
export async function databaseTime(db: Database): Promise<number | null> {
  if (db.engine === 'sqlite') return null
  const [row] = await db.read
    .select({ now: sql<number>`extract(epoch FROM now) * 1000`.mapWith(Number) })
    .from(sql`clock_timestamp() AS now`)
  return row!.now
}
