/** What lists are sorted by, in SQL. */
import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import type { EntrySort } from '../order.ts'
import { amountOf, costOf } from './conditions.ts'

/** The columns of the orders by one count of tokens. */
export const COUNT_COLUMNS = {
  input: 'input',
  output: 'output',
  cache_read: 'cacheRead',
  cache_write: 'cacheWrite',
  cache_write_1h: 'cacheWrite1h',
} as const

export function sortFigure({ tables }: Reader, sort: EntrySort): SQL {
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
    case 'marginal_cost':
      return amountOf(tables, 'marginal')
    case 'allocated_cost':
      return amountOf(tables, 'allocated')
    case 'list_value':
      return sql`${e.listValue}`
    case 'reported_cost':
      return sql`${e.reportedCost}`
    default:
      return sql`${e[COUNT_COLUMNS[sort]]}`
  }
}
