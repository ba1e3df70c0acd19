/** What the completeness of a period is counted from, besides sums. */

import { and, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { costOf } from '../../selection/contract.ts'
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
  const visible = await visibleEntries(reader, viewer)
  const [row] = await reader
    .select({ entries: count(), unpricedEntries: countWhere(sql`${cost} IS NULL`), costNanos: sum(cost) })
    .from(entries)
    .where(and(condition, visible && sql`(${visible}) IS TRUE`))
  return row!
}

/** Projects whose entries the checks distinguish, by key. */
export interface SpecialProjects {
  notBillable: ReadonlySet<number>
  /** Billable ones without a client. */
  withoutClient: ReadonlySet<number>
}

export async function findSpecialProjects(reader: Reader): Promise<SpecialProjects> {
  const { projects } = reader.tables
  const rows = await reader
    .select({ id: projects.id, billable: projects.billable })
    .from(projects)
    .where(or(isNull(projects.clientId), eq(projects.billable, false)))
  const [withoutClient, notBillable] = [true, false].map(
    (isBillable) => new Set(rows.filter(({ billable }) => billable === isBillable).map(({ id }) => id)),
  )
  return { withoutClient: withoutClient!, notBillable: notBillable! }
}
