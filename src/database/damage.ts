/** Checks the integrity of the database file itself. */
import { sql } from 'drizzle-orm'
import type { Database } from './database.ts'
import { MISSING_REFERENCES } from './engines/postgres/references.ts'

/** The number of dangling references that are listed; more of them add no information. */
const NAMED = 20

/**
 * A sentence for each problem; empty if there is none. PostgreSQL has tools of its own for its files, and enforces foreign
 * keys itself. Reads the whole file, which takes minutes if it is large, so don't use a server's `db.slow`.
 */
export async function findDamage(db: Database): Promise<string[]> {
  const isPostgres = db.engine === 'postgres'
  const pages = isPostgres
    ? []
    : await db.slow.select({ message: sql<string>`integrity_check`.mapWith(String) }).from(sql`pragma_integrity_check`)
  const references = await db.slow
    .select({
      table: sql<string>`"table"`.mapWith(String),
      row: sql<number>`rowid`.mapWith(Number),
      parent: sql<string>`parent`.mapWith(String),
    })
    .from(isPostgres ? sql.raw(`(${MISSING_REFERENCES}) AS missing`) : sql`pragma_foreign_key_check`)
    .limit(NAMED)
  return [
    ...pages.map(({ message }) => message).filter((message) => message !== 'ok'),
    ...references.map(({ table, row, parent }) => `Row ${row} of ${table} refers to a missing row of ${parent}.`),
  ]
}
