import { MIGRATIONS } from '../../migrations/index.ts'
import { Problem } from '../errors.ts'
import type { ReplicaState } from './caller.ts'
import type { Database } from './database.ts'
import { databaseMoved, retryAfterRestart } from './errors.ts'

/** Anyone may call this, and each probe writes to the disk: more frequent calls get the last result. */
const PROBE_EVERY_MS = 1_000

export interface Readiness {
  /** Undefined without one. A server whose replica cannot be used is as ready as one without. */
  replica: ReplicaState | undefined
}

/**
 * Resolves if the database can be written, which is tested, and has this program's schema version. The command line of
 * a newer Tally may have migrated it while the server runs.
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
    await refuseUpgraded(db)
    await refuseMoved(db)
    return { replica: await db.replica?.() }
  }
}

async function refuseUpgraded(db: Database): Promise<void> {
  const { migrations } = db.read.tables
  const applied = await db.read.select({ version: migrations.version }).from(migrations)
  const version = Math.max(...applied.map((row) => row.version))
  const known = MIGRATIONS.at(-1)!.version
  if (version === known) return
  throw new Problem(
    'database_upgraded',
    `The database has schema version ${version}, but this server expects ${known}. Start the version of Tally that upgraded the database.`,
    retryAfterRestart,
  )
}

/** Reads are answered meanwhile, but what is reported belongs into the other database. */
async function refuseMoved(db: Database): Promise<void> {
  const { moves } = db.read.tables
  const [move] = await db.read.select({ move: moves.move }).from(moves)
  if (move) throw databaseMoved()
}
