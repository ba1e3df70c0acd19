/** The number of entries that match a condition, and their cost. */
import { and, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { costOf } from '../../entries/listing/store/conditions.ts'
import { count, countWhere, sum } from './expressions.ts'

export interface EntryCount {
  entries: number
  unpricedEntries: number
  /** Null if no cost is known. */
  costNanos: bigint | null
}

export async function countEntries(
  reader: Reader,
  { viewer, condition }: { viewer: Viewer; condition: SQL | undefined },
): Promise<EntryCount> {
  const { entries } = reader.tables
  const cost = costOf(reader.tables)
  const [row] = await reader
    .select({ entries: count(), unpricedEntries: countWhere(sql`${cost} IS NULL`), costNanos: sum(cost) })
    .from(entries)
    .where(and(condition, visibleEntries(reader, viewer)))
  return row!
}
