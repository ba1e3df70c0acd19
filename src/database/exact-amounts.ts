/**
 * Amounts in rows as the driver returns them, whose integers must be below 2^53: nano-dollars exceed that from nine
 * million dollars on, so an amount is selected as its dollars and the rest.
 */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'

const PART = 1_000_000_000
const PART_SQL = sql.raw(String(PART))

export function amountParts(amount: SQLWrapper): { dollars: SQL; rest: SQL } {
  return { dollars: sql`${amount} / ${PART_SQL}`, rest: sql`${amount} % ${PART_SQL}` }
}

/** Null without an amount. */
export function amountOfParts(dollars: number | null, rest: number | null): bigint | null {
  if (dollars === null) return null
  const amount = dollars * PART + rest!
  return Number.isSafeInteger(amount) ? BigInt(amount) : BigInt(dollars) * BigInt(PART) + BigInt(rest!)
}
