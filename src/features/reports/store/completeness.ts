/** What the completeness of a period is counted from, besides sums. */
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { costOf } from '../../entries/listing/store/conditions.ts'
import type { EntryCount } from '../checks.ts'
import { count, countWhere, sum } from './expressions.ts'

/**
 * The number of entries that match a condition, and their cost. The condition is that of an index which contains these
 * entries with all that is read of them; `IS TRUE` keeps databases from reading all entries that the viewer can see.
 */
export async function countEntries(
  reader: Reader,
  { viewer, condition }: { viewer: Viewer; condition: SQL | undefined },
): Promise<EntryCount> {
  const { entries } = reader.tables
  const cost = costOf(reader.tables)
  const visible = visibleEntries(reader, viewer)
  const [row] = await reader
    .select({ entries: count(), unpricedEntries: countWhere(sql`${cost} IS NULL`), costNanos: sum(cost) })
    .from(entries)
    .where(and(condition, visible && sql`(${visible}) IS TRUE`))
  return row!
}

/** Billable projects without a client. */
export async function listProjectsWithoutClient(reader: Reader): Promise<Set<number>> {
  const { projects } = reader.tables
  const rows = await reader
    .select({ id: projects.id })
    .from(projects)
    .where(and(isNull(projects.clientId), eq(projects.billable, true)))
  return new Set(rows.map(({ id }) => id))
}
