/** Removal of the oldest events. */
import { asc, count, eq, lt, lte, max } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'

/** Rows that one transaction removes, in some milliseconds. */
export const PORTION = 1_000

/**
 * Removes the first events, as far as they are from before the moment, and notes the last of them. The newest event stays,
 * so that its id is not used again. Returns how many it removed, at most a portion.
 */
export async function removeOldest(tx: Tx, before: number): Promise<number> {
  const { events, organization } = tx.tables
  const [newest] = await tx.select({ id: max(events.id) }).from(events)
  const first = await tx.select({ id: events.id, at: events.at }).from(events).orderBy(asc(events.id)).limit(PORTION)
  const kept = first.findIndex(({ id, at }) => at >= before || id === newest?.id)
  const due = kept === -1 ? first : first.slice(0, kept)
  const last = due.at(-1)
  if (!last) return 0
  await tx.delete(events).where(lte(events.id, last.id))
  await tx.update(organization).set({ eventsRemovedTo: last.id }).where(eq(organization.id, 1))
  return due.length
}

/** Keys of what is reported once: nothing is looked at again after so long. */
export async function removeOccurrences(tx: Tx, before: number): Promise<void> {
  const { eventOccurrences } = tx.tables
  await tx.delete(eventOccurrences).where(lt(eventOccurrences.at, before))
}

export async function countOlder(reader: Reader, before: number): Promise<number> {
  const { events } = reader.tables
  const [row] = await reader.select({ rows: count() }).from(events).where(lt(events.at, before))
  return row!.rows
}
