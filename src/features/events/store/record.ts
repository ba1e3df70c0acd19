/** New rows of the log. */
import { inArray } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'

export type EventRow = Omit<Tables['events']['$inferSelect'], 'id'>

/** One statement for all rows on PostgreSQL; on SQLite, one that is prepared once. Draws the ids itself. */
export async function insertEvents(tx: Tx, rows: readonly EventRow[]): Promise<void> {
  await tx.insertAll(tx.tables.events, rows)
}

/** Notes that something was reported; false if it was noted before. */
export async function insertOccurrence(
  tx: Tx,
  occurrence: Tables['eventOccurrences']['$inferSelect'],
): Promise<boolean> {
  const inserted = await tx
    .insert(tx.tables.eventOccurrences)
    .values(occurrence)
    .onConflictDoNothing()
    .returning({ key: tx.tables.eventOccurrences.key })
  return inserted.length > 0
}

/** Those of the keys that were noted. */
export async function listOccurrences(reader: Reader, keys: readonly string[]): Promise<Set<string>> {
  const { eventOccurrences } = reader.tables
  const rows = await reader
    .select({ key: eventOccurrences.key })
    .from(eventOccurrences)
    .where(inArray(eventOccurrences.key, [...keys]))
  return new Set(rows.map(({ key }) => key))
}
