/** Checks the integrity of the database file itself. */
import { sql } from 'drizzle-orm'
import type { Database } from './database.ts'

/** Rows that refer to nothing are named up to this number; more of them say nothing new. */
const NAMED = 20

/**
 * A sentence for everything that is wrong; none where all is well. Intentionally nothing on PostgreSQL, which has tools
 * of its own for its files and holds references whoever writes. Reads the whole file, which takes minutes where it is
 * large, so not for a server's `db.slow`.
 */
export async function findDamage(db: Database): Promise<string[]> {
  if (db.engine === 'postgres') return []
  const pages = await db.slow
    .select({ message: sql<string>`integrity_check`.mapWith(String) })
    .from(sql`pragma_integrity_check`)
  const references = await db.slow
    .select({
      table: sql<string>`"table"`.mapWith(String),
      row: sql<number>`rowid`.mapWith(Number),
      parent: sql<string>`parent`.mapWith(String),
    })
    .from(sql`pragma_foreign_key_check`)
    .limit(NAMED)
  return [
    ...pages.map(({ message }) => message).filter((message) => message !== 'ok'),
    ...references.map(({ table, row, parent }) => `Row ${row} of ${table} refers to a missing row of ${parent}.`),
  ]
}
