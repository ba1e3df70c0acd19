/** Finds out whether a filter matches so few entries that reading them from their table is cheapest. */

import { and, gte, lt, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { conditionOf, type EntryFilter } from '../../selection/contract.ts'
import type { Range } from '../plan.ts'

/**
 * Whether a filter by tickets leaves no more than `limit` entries of a range. Counts up to the limit, from the index of
 * tickets alone. False without such a filter: what people and projects have is seldom few.
 */
export async function isOfFewEntries(
  reader: Reader,
  { ticket }: EntryFilter,
  { from, to }: Range,
  limit: number,
): Promise<boolean> {
  // The index does not contain entries without a ticket.
  if (ticket === undefined || ticket.includes('none')) return false
  const { entries } = reader.tables
  const some = reader
    .select({ one: sql<number>`1`.as('one') })
    .from(entries)
    .where(and(conditionOf(reader, { ticket }), gte(entries.startedAt, from), lt(entries.startedAt, to)))
    .limit(limit + 1)
    .as('some')
  const [row] = await reader.select({ count: sql<number>`count(*)`.mapWith(Number) }).from(some)
  return row!.count <= limit
}
