/** Which versions of Tally can use a database that a newer one has migrated. */
import { MIGRATIONS, type Migration } from '../../../migrations/index.ts'
import { Problem } from '../../errors.ts'
import { retryAfterRestart } from '../errors.ts'

/** The newest migration that this program contains. */
export const SCHEMA_VERSION = MIGRATIONS.at(-1)!.version

/** The migration that adds `revision.oldest_schema`. */
const RECORDED_SINCE = 44

/** The oldest schema version whose programs can use a database after these migrations. */
export function oldestSchemaAfter(migrations: readonly Migration[]): number {
  return Math.max(0, ...migrations.map(({ version, compatibleFrom }) => compatibleFrom ?? version))
}

/** The statement that records it; undefined if these migrations end before there is a column for it. */
export function recordOldestSchema(migrations: readonly Migration[]): string | undefined {
  if ((migrations.at(-1)?.version ?? 0) < RECORDED_SINCE) return undefined
  const oldest = oldestSchemaAfter(migrations)
  return `UPDATE revision SET oldest_schema = ${oldest} WHERE oldest_schema < ${oldest}`
}

/**
 * Throws `database_upgraded` if this program cannot use the database any more: a newer version has applied a migration
 * that does not only expand the schema.
 *
 * @param oldestSchema `revision.oldest_schema`
 */
export function requireCompatible(oldestSchema: number): void {
  if (oldestSchema <= SCHEMA_VERSION) return
  throw new Problem(
    'database_upgraded',
    `A newer version of Tally has upgraded the database: it needs schema version ${oldestSchema}, and this server supports up to ${SCHEMA_VERSION}. Nothing was written; try again when the newer version runs.`,
    retryAfterRestart,
  )
}
