/** Integer sums in SQL that cannot overflow. */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'

/** Numbers are split at this digit, so that sums of either part fit into 64 bits for any number of entries. */
const PART = 1_000_000_000
const PART_SQL = sql.raw(String(PART))

/**
 * SQLite rejects an integer sum above 2^63, which the nano-dollars of ten entries at the highest allowed cost already
 * reach. So the upper and lower parts are summed separately, and combined when they are read. Null if there are no
 * rows.
 */
export function exactSum(expression: SQLWrapper) {
  return sql<bigint | null>`${partsOf(expression)}`.mapWith(joined)
}

/** Like {@link exactSum}, but 0 if there are no rows. */
export function exactTotal(expression: SQLWrapper) {
  return sql<bigint>`coalesce(${partsOf(expression)}, '0 0')`.mapWith(joined)
}

function partsOf(expression: SQLWrapper): SQL {
  const part = (of: SQL) => sql`CAST(sum(${of}) AS text)`
  return sql`${part(sql`(${expression}) / ${PART_SQL}`)} || ' ' || ${part(sql`(${expression}) % ${PART_SQL}`)}`
}

function joined(parts: string): bigint {
  const [above, below] = parts.split(' ')
  return BigInt(above!) * BigInt(PART) + BigInt(below!)
}
