/**
 * Takes away all that a demonstration holds. Nothing that Tally keeps can be removed otherwise: bills, histories and the
 * audit log are held by triggers, which go with their tables.
 */
import { Database as Connection } from 'bun:sqlite'
import { join } from 'node:path'
import { getTableName } from 'drizzle-orm'
import type { Sql } from 'postgres'
import { requireUsable } from '../database/database-place.ts'
import { refusePooler } from '../database/engines/postgres/link.ts'
import { onOneConnection } from '../database/engines/postgres/postgres.ts'
import { DATABASE_FILE } from '../database/open.ts'
import { APPLICATION_NAME, applyAllToPostgres, applyAllToSqlite, isOwnSchema } from '../database/schema/migrate.ts'
import { postgresTables } from '../database/schema/postgres-tables.ts'
import { WrongDatabase } from '../database/wrong-database.ts'
import type { Clock } from '../lib/clock.ts'

/** Data in a demo database that `tally demo` did not create. */
export interface AddedSince {
  entries: number
  /** By people and the command line, as the audit log calls it. */
  changes: { action: string; count: number }[]
}

export interface EmptyingOptions {
  dataDir: string
  databaseUrl?: string | undefined
  clock: Clock
  /** Throws where it shall not be done after all. Nobody else gets in while it thinks. */
  confirm(added: AddedSince): Promise<void>
}

const DEMO_AT = 'SELECT demo_at AS at FROM organization'
const ENTRIES_SINCE = 'SELECT count(*) AS count FROM entries WHERE created_at > (SELECT demo_at FROM organization)'
const CHANGES_SINCE = `
  SELECT action, count(*) AS count FROM audit
  WHERE at > (SELECT demo_at FROM organization) AND NOT (user_id IS NULL AND origin = 'tally')
  GROUP BY action ORDER BY action`

/**
 * Leaves a demonstration as a new database, all of it or nothing. Throws `WrongDatabase` for one that is none, and where
 * another process, such as a server, has it open: what that one remembers of the rows would be wrong afterwards.
 */
export async function emptyDemo({ dataDir, databaseUrl, clock, confirm }: EmptyingOptions): Promise<void> {
  if (databaseUrl === undefined) return emptySqlite(join(dataDir, DATABASE_FILE), clock, confirm)
  // Connections of a pooler do not show which processes use the database.
  refusePooler(databaseUrl, 'to remove demo data')
  return onOneConnection(databaseUrl, (client, where) => emptyPostgres(client, where, clock, confirm))
}

async function emptySqlite(path: string, clock: Clock, confirm: EmptyingOptions['confirm']): Promise<void> {
  const connection = openAlone(path)
  try {
    // A table of an older version has no such column, and is no demonstration.
    const isKnown = connection.query("SELECT 1 FROM pragma_table_info('organization') WHERE name = 'demo_at'").get()
    const at = isKnown && connection.query<{ at: number | null }, []>(DEMO_AT).get()!.at
    if (at === null) throw noDemo(path)
    await confirm({
      entries: connection.query<{ count: number }, []>(ENTRIES_SINCE).get()!.count,
      changes: connection.query<AddedSince['changes'][number], []>(CHANGES_SINCE).all(),
    })
    const tables = connection.query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    // Inside a transaction the pragma does nothing, and rows that others refer to could not go first.
    connection.run('PRAGMA foreign_keys = OFF')
    connection.run('BEGIN IMMEDIATE')
    for (const { name } of tables.all()) connection.run(`DROP TABLE "${name}"`)
    applyAllToSqlite(connection, clock.now())
    connection.run('COMMIT')
    // What was dropped still stands in the pages that are free now.
    connection.run('VACUUM')
  } finally {
    connection.close()
  }
}

/**
 * A connection that keeps every other one out as long as it is open. A lock shows nothing else: one of bun:sqlite stays after
 * `close()` while a statement is not finalized.
 */
function openAlone(path: string): Connection {
  let connection: Connection | undefined
  try {
    requireUsable(path)
    connection = new Connection(path, { readwrite: true, create: false })
    // A process for slow reads outlives its server for a moment.
    connection.run('PRAGMA busy_timeout = 2000')
    // Before the first access to a file in write-ahead mode it asks for the whole file, which nobody gets whom another
    // connection keeps out.
    connection.run('PRAGMA locking_mode = EXCLUSIVE')
    connection.run('BEGIN IMMEDIATE')
    connection.run('COMMIT')
    return connection
  } catch (error) {
    connection?.close()
    const { code = '' } = error as { code?: string }
    if (code.startsWith('SQLITE_BUSY')) throw inUse(path)
    if (code.startsWith('SQLITE_CANTOPEN')) throw noDemo(path)
    throw error
  }
}

async function emptyPostgres(
  client: Sql,
  where: string,
  clock: Clock,
  confirm: EmptyingOptions['confirm'],
): Promise<void> {
  await client.unsafe('BEGIN')
  try {
    const others = await client`
      SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${APPLICATION_NAME} AND pid <> pg_backend_pid()`
    if (others.length > 0) throw inUse(where)
    const columns = (await isOwnSchema(client, where))
      ? await client`
          SELECT 1 FROM information_schema.columns
          WHERE table_schema = current_schema() AND table_name = 'organization' AND column_name = 'demo_at'`
      : []
    const [organization] = columns.length > 0 ? await client.unsafe<{ at: string | null }[]>(DEMO_AT) : []
    if (!organization?.at) throw noDemo(where)
    const [entries] = await client.unsafe<{ count: string }[]>(ENTRIES_SINCE)
    const changes = await client.unsafe<{ action: string; count: string }[]>(CHANGES_SINCE)
    await confirm({
      entries: Number(entries!.count),
      changes: changes.map(({ action, count }) => ({ action, count: Number(count) })),
    })
    // Of the schema's owner, but not of extensions.
    const functions = await client<{ name: string }[]>`
      SELECT f.oid::regprocedure::text AS name FROM pg_proc AS f
      WHERE f.pronamespace = to_regnamespace(current_schema())
        AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.objid = f.oid AND d.deptype = 'e')`
    const tables = Object.values(postgresTables).map((table) => `"${getTableName(table)}"`)
    await client.unsafe(`DROP TABLE ${tables.join(', ')}`)
    for (const { name } of functions) await client.unsafe(`DROP FUNCTION ${name}`)
    await applyAllToPostgres(client, clock.now())
    await client.unsafe('COMMIT')
  } catch (error) {
    await client.unsafe('ROLLBACK').catch(() => undefined)
    throw error
  }
}

function noDemo(where: string): WrongDatabase {
  return new WrongDatabase(`${where} does not contain demo data. Nothing was removed.`)
}

function inUse(where: string): WrongDatabase {
  return new WrongDatabase(`${where} is in use by another Tally process, such as a server. Stop it first.`)
}
