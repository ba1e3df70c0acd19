/** Upserts, on both engines. */
import { type Column, type SQL, sql } from 'drizzle-orm'

/** In the `set` of `onConflictDoUpdate`: the value of the row that was to be inserted. */
export function addedValue(column: Column): SQL {
  return sql`excluded.${sql.identifier(column.name)}`
}
