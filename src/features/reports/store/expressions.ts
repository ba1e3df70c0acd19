/** Exact sums and counts in SQL. The sum of no rows, or of only unknown values, is null. */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { exactSum as sum } from '../../../database/exact-sum.ts'
import type { Tables } from '../../../database/schema/tables.ts'

export { sum }

/** A sum to sort rows by: of any size, but only with floating-point precision. */
export function roughSum(expression: SQLWrapper): SQL {
  return sql`sum((${expression}) * 1.0)`
}

export function count() {
  return sql<number>`count(*)`.mapWith(Number)
}

/** The number of rows for which the condition is true; unknown counts as false. */
export function countWhere(condition: SQLWrapper) {
  return sql<number>`count(CASE WHEN ${condition} THEN 1 END)`.mapWith(Number)
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
