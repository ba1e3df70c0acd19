/** Which entries are valued at prices of long requests, and which of them at nothing else, as conditions of SQL. */
import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { jsonSql } from '../../../database/json-sql.ts'

/** What a sum of requests above a threshold is stored as: the threshold, then the five counts. */
const COUNT_POSITIONS = [1, 2, 3, 4, 5]

/**
 * Whether the list value contains a tier of its price (docs/design/pricing.md, "Tiers"): the entry is one request that
 * reaches the first tier, or has a sum of such requests. A sum at a higher threshold is part of the one at the tier, so
 * that any from there on will do; a threshold may be one token below the tier. Never unknown.
 */
export function isLongContext(reader: Reader): SQL {
  const { entries, prices } = reader.tables
  const { input, cacheRead, cacheWrite, cacheWrite1h, requests, usageDetails, listValue, priceId } = entries
  const json = jsonSql(reader)
  const tier = json.number(sql`${prices.tiers}`, 0, 'from_tokens')
  const sum = sql`above.value`
  const tokens = COUNT_POSITIONS.map((at) => json.number(sum, at))
  const isLong = sql`CASE WHEN ${requests} = 1
    THEN ${input} + ${cacheRead} + ${cacheWrite} + ${cacheWrite1h} >= ${tier}
    ELSE EXISTS (
      SELECT 1 FROM ${json.items(sql`${usageDetails}`, 'above', 'above')}
      WHERE ${json.number(sum, 0)} >= ${tier} - 1 AND ${sql.join(tokens, sql` + `)} > 0
    ) END`
  // The columns of the entry first: few have details or are a single request.
  return sql`(${listValue} IS NOT NULL AND (${requests} = 1 OR ${usageDetails} IS NOT NULL) AND EXISTS (
    SELECT 1 FROM ${prices} WHERE ${prices.id} = ${priceId} AND ${prices.tiers} IS NOT NULL AND ${isLong}
  )) IS TRUE`
}

/**
 * Whether the list value contains tokens that the price has no base price for, not even one that would be used instead
 * (`hasBasePrices` in `prices/rates.ts`). Such tokens are priced only in long requests. Never unknown.
 */
export function isWithoutBasePrice(reader: Reader): SQL {
  const { entries, prices } = reader.tables
  const instead = [
    [entries.input, [prices.input]],
    [entries.output, [prices.output]],
    [entries.cacheRead, [prices.cacheRead, prices.input]],
    [entries.cacheWrite, [prices.cacheWrite, prices.input]],
    [entries.cacheWrite1h, [prices.cacheWrite1h, prices.cacheWrite, prices.input]],
  ] as const
  const unpriced = instead.map(([tokens, columns]) => {
    const absent = columns.map((column) => sql`${column} IS NULL`)
    return sql`(${tokens} > 0 AND ${sql.join(absent, sql` AND `)})`
  })
  return sql`(${entries.listValue} IS NOT NULL AND EXISTS (
    SELECT 1 FROM ${prices} WHERE ${prices.id} = ${entries.priceId} AND (${sql.join(unpriced, sql` OR `)})
  )) IS TRUE`
}
