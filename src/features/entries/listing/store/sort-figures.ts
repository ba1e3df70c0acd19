/** What lists are sorted by, in SQL. */
import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../../database/database.ts'
import type { ListOrder, ListSort } from '../order.ts'
import { costOf } from './conditions.ts'

export function sortFigure({ tables }: Reader, sort: ListSort): SQL {
  const { entries: e } = tables
  switch (sort) {
    case 'started_at':
      return sql`${e.startedAt}`
    case 'cost':
      return costOf(tables)
    case 'tokens':
      return sql`(${sql.join([e.input, e.output, e.cacheRead, e.cacheWrite, e.cacheWrite1h], sql.raw(' + '))})`
    case 'duration':
      return sql`(${e.endedAt} - ${e.startedAt})`
  }
}

/** Whether an entry follows another one. Unknown figures are last in both orders, and equal ones ordered by id. */
export function isAfter(
  { tables: { entries } }: Reader,
  figure: SQL,
  order: ListOrder,
  after: { value: SQL | null; id: number },
): SQL {
  const isBeyond = sql.raw(order === 'desc' ? '<' : '>')
  const isSameAfter = sql`${entries.id} ${isBeyond} ${after.id}`
  if (after.value === null) return sql`(${figure} IS NULL AND ${isSameAfter})`
  return sql`(${figure} ${isBeyond} ${after.value} OR (${figure} = ${after.value} AND ${isSameAfter}) OR ${figure} IS NULL)`
}
