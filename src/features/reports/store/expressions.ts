/** Sums and counts in SQL, read back without loss above 2^53. Of no rows, or of nothing but unknown figures, a sum is null. */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Tables } from '../../../database/tables.ts'

export function sum(expression: SQLWrapper) {
  return sql<bigint | null>`sum(${expression})`.mapWith(BigInt)
}

export function count() {
  return sql<number>`count(*)`.mapWith(Number)
}

/** How many of the rows fulfil the condition, of which one that is unknown is none. */
export function countWhere(condition: SQLWrapper) {
  return sql<number>`count(CASE WHEN ${condition} THEN 1 END)`.mapWith(Number)
}

/** The sum over the rows that fulfil the condition. */
export function sumWhere(condition: SQLWrapper, expression: SQLWrapper) {
  return sum(sql`CASE WHEN ${condition} THEN ${expression} END`)
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
