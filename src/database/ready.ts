import { MIGRATIONS } from '../../migrations/index.ts'
import { Problem } from '../errors.ts'
import type { Database } from './database.ts'

/**
 * Answers where the database can be written and has the schema that this program knows. A newer Tally's command line
 * may have migrated it under a server that runs.
 */
export async function checkReady(db: Database): Promise<void> {
  // Takes the lock that every entry needs, and gives it back.
  await db.write(async () => {})
  const { migrations } = db.read.tables
  const applied = await db.read.select({ version: migrations.version }).from(migrations)
  const version = Math.max(...applied.map((row) => row.version))
  const known = MIGRATIONS.at(-1)!.version
  if (version !== known) {
    throw new Problem(
      'database_upgraded',
      `The database has schema version ${version}, this server knows ${known}. Start the version of Tally that upgraded it.`,
      { headers: { 'retry-after': RETRY_AFTER_SECONDS } },
    )
  }
}

/** Someone has to start another program first. */
const RETRY_AFTER_SECONDS = '60'
