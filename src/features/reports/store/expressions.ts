/** Sums and counts in SQL, read back exactly. Of no rows, or of nothing but unknown figures, a sum is null. */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { exactSum as sum } from '../../../database/exact-sum.ts'
import type { Tables } from '../../../database/schema/tables.ts'

export { sum }

/** A sum to put rows in order by: of any size, but with the precision of a floating-point number only. */
export function roughSum(expression: SQLWrapper): SQL {
  return sql`sum((${expression}) * 1.0)`
}

export function count() {
  return sql<number>`count(*)`.mapWith(Number)
}

/** How many of the rows fulfil the condition, of which one that is unknown is none. */
export function countWhere(condition: SQLWrapper) {
  return sql<number>`count(CASE WHEN ${condition} THEN 1 END)`.mapWith(Number)
}

/** The cost of an entry in nano-dollars: what was reported, else the list value; null where neither is known. */
export function costOf({ entries }: Tables): SQL {
  return sql`coalesce(${entries.reportedCost}, ${entries.listValue})`
}

export function tokenSums({ entries }: Tables) {
  const { input, output, cacheRead, cacheWrite, cacheWrite1h } = entries
  return {
    input: sum(input),
    output: sum(output),
    cacheRead: sum(cacheRead),
    cacheWrite: sum(cacheWrite),
    cacheWrite1h: sum(cacheWrite1h),
  }
}
