import { and, asc, desc, gte, lt, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../../access/visibility.ts'
import type { Reader } from '../../../../database/database.ts'
import type { EntryFilter } from '../../listing/filter.ts'
import type { ListOrder, ListSort } from '../../listing/order.ts'
import { conditionOf, costOf } from '../../listing/store/conditions.ts'
import type { Range } from '../plan.ts'

/** An entry with the value that orders it: milliseconds, nano-dollars or tokens, rounded beyond 2^53. Null is unknown. */
export interface Ranked {
  id: number
  value: number | null
}

export interface SearchTask {
  viewer: Viewer
  filter: EntryFilter
  sort: ListSort
  /** Unknown values are last in both. Entries with the same value are in this order of their ids. */
  order: ListOrder
  /** The last entry before those that are looked for. */
  after?: Ranked | undefined
  limit: number
}

/** The first entries of a range, see {@link SearchTask}. */
export function listRanked(
  reader: Reader,
  { viewer, filter, sort, order, after, limit, range }: SearchTask & { range: Range },
): Promise<Ranked[]> {
  const { entries } = reader.tables
  // As doubles, like columns.
  const value = sql`CAST(${expressionOf(reader, sort)} AS double precision)`
  const direction = order === 'asc' ? asc : desc
  return reader
    .select({ id: entries.id, value: sql<number | null>`${value}` })
    .from(entries)
    .where(
      and(
        gte(entries.startedAt, range.from),
        lt(entries.startedAt, range.to),
        conditionOf(reader, filter),
        visibleEntries(reader, viewer),
        after && isAfter(reader, value, order, after),
      ),
    )
    .orderBy(sql`${direction(value)} NULLS LAST`, direction(entries.id))
    .limit(limit)
}

function expressionOf(reader: Reader, sort: ListSort): SQL {
  const { entries: e } = reader.tables
  switch (sort) {
    case 'started_at':
      return sql`${e.startedAt}`
    case 'cost':
      return costOf(reader.tables)
    case 'tokens':
      return sql`(${sql.join([e.input, e.output, e.cacheRead, e.cacheWrite, e.cacheWrite1h], sql.raw(' + '))})`
    case 'duration':
      return sql`(${e.endedAt} - ${e.startedAt})`
  }
}

function isAfter({ tables: { entries } }: Reader, value: SQL, order: ListOrder, after: Ranked): SQL {
  const isBeyond = sql.raw(order === 'asc' ? '>' : '<')
  const isSameAfter = sql`${entries.id} ${isBeyond} ${after.id}`
  if (after.value === null) return sql`(${value} IS NULL AND ${isSameAfter})`
  const last = sql`CAST(${after.value} AS double precision)`
  return sql`(${value} ${isBeyond} ${last} OR (${value} = ${last} AND ${isSameAfter}) OR ${value} IS NULL)`
}
