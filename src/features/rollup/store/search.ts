import { and, asc, desc, gte, lt, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { isBehind } from '../../../database/sorting.ts'
import {
  conditionOf,
  type EntryFilter,
  type ListOrder,
  type ListSort,
  type SortFigure,
  sortFigure,
} from '../../selection/contract.ts'
import type { Range } from '../plan.ts'

/** An entry with the value that orders it: milliseconds, nano-dollars or tokens, rounded beyond 2^53. Null is unknown. */
export interface Ranked {
  id: number
  value: number | null
}

export interface SearchTask {
  viewer: Viewer
  filter: EntryFilter
  sort: ListSort | SortFigure
  /** Unknown values are last in both. Entries with the same value are in this order of their ids. */
  order: ListOrder
  /** The last entry before those that are looked for. */
  after?: Ranked | undefined
  limit: number
  /** After this time, it ends with what it has found. */
  budgetMs?: number | undefined
}

/** The first entries of a range, see {@link SearchTask}. */
export async function listRanked(
  reader: Reader,
  { viewer, filter, sort, order, after, limit, range }: SearchTask & { range: Range },
): Promise<Ranked[]> {
  const { entries } = reader.tables
  // As doubles, like columns.
  const value = sql`CAST(${sortFigure(reader, sort)} AS double precision)`
  const direction = order === 'asc' ? asc : desc
  const exactly = (number: number) => sql`CAST(${number} AS double precision)`
  const last = after && { id: after.id, value: after.value === null ? null : exactly(after.value) }
  return reader
    .select({ id: entries.id, value: sql<number | null>`${value}` })
    .from(entries)
    .where(
      and(
        gte(entries.startedAt, range.from),
        lt(entries.startedAt, range.to),
        conditionOf(reader, filter),
        await visibleEntries(reader, viewer),
        last && isBehind(entries.id, value, order, last),
      ),
    )
    .orderBy(sql`${direction(value)} NULLS LAST`, direction(entries.id))
    .limit(limit)
}
