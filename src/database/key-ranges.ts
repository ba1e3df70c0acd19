/** Looks through a table without an index for what it looks for, in queries that each take a short time. */
import { and, gt, lte, min, type SQL } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Reader } from './database.ts'

/** Keys that one query looks at: it takes some 20 ms, however few rows match. */
const RANGE_KEYS = 50_000

export interface KeyRange {
  range: SQL
  /** No key of the range is greater. */
  last: number
}

/**
 * Conditions for ranges of a table's keys, which are positive whole numbers, in their order: every row with a key `after`
 * this one is in one of them. Where nothing has a key there are none, because there can be far more keys than rows.
 */
export async function* keyRanges(reader: Reader, table: PgTable, key: PgColumn, after = 0): AsyncGenerator<KeyRange> {
  for (let last = after; ; ) {
    const [next] = await reader
      .select({ key: min(key) })
      .from(table)
      .where(gt(key, last))
    if (next?.key == null) return
    const first = Number(next.key)
    last = first + RANGE_KEYS - 1
    yield { range: and(gt(key, first - 1), lte(key, last))!, last }
  }
}
