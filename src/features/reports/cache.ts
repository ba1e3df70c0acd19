/** The use of caches over time and by group, and what it saved (docs/design/pricing.md, "Values of sums"). */

import type { Viewer } from '../../access/visibility.ts'
import type { Database, SlowTask } from '../../database/database.ts'
import { moneyNumber, type Nanos } from '../../lib/money.ts'
import type { PriceTable } from '../prices/service.ts'
import { type EntryFilter, listPath } from '../selection/contract.ts'
import { type Bucket, bucketsOf } from './buckets.ts'
import { counted } from './counted-entries.ts'
import { type LeftOut, leftOutBody, valuable } from './left-out.ts'
import { type PricedSum, readPricedSums } from './priced-sums.ts'
import { type CacheQuery, PAGE_BUCKETS } from './query.ts'
import type { CacheGroup, CacheReport } from './schema.ts'
import { type Billing, settledRead } from './settled-sums.ts'
import { NO_TOKENS, standardValue, sumTokens, type Tokens } from './standard-value.ts'
import type { Key } from './sums.ts'
import { ROW_LIMIT, tooManyGroups } from './usage.ts'
import { periodBody, queryBody, ratioNumber, tokensBody } from './wire.ts'

interface CacheCost {
  /** Of the cached tokens, as if they were uncached input. */
  uncachedNanos: Nanos
  /** Of the same tokens as they were used: read from the cache, or written to it. */
  cachedNanos: Nanos
}

interface CacheTaskQuery {
  viewer: Viewer
  query: CacheQuery
}

/** The sums of a group in a bucket. */
interface CacheRow extends CacheCost {
  bucket: number
  /** Null where entries have no value in the dimension, and where nothing is grouped. */
  key: Key | null
  entries: number
  /** Entries of models that use a cache in a span without a price for their tokens. */
  unvaluedEntries: number
  tokens: Tokens
}

interface CacheSums {
  /** In the order of the buckets. */
  rows: CacheRow[]
  leftOut: LeftOut[]
}

/** Undefined if there are too many groups. */
export const CACHE_TASK: SlowTask<CacheTaskQuery, CacheSums | undefined> = {
  name: 'reports.cache',
  async run(reader, { viewer, query }) {
    const starts = bucketsOf(dividedBy(query), PAGE_BUCKETS).map(({ startingAt }) => startingAt)
    const read = await readPricedSums(reader, { ...query, viewer, dimension: query.groupBy, bounds: starts })
    if (!read) return undefined
    const { table, sums } = read
    const costOf = ({ price, tokens }: Pick<PricedSum, 'price' | 'tokens'>) =>
      price ? cacheCost(table, price.id, tokens) : usesCache(tokens) ? undefined : FREE
    const { isValued, leftOut } = valuable(sums, (sum) => costOf(sum) !== undefined)
    const rows = new Map<string, CacheRow>()
    let bucket = 0
    for (const sum of sums) {
      while (bucket + 1 < starts.length && starts[bucket + 1]! <= sum.at) bucket += 1
      add(rows, bucket, sum, isValued(sum) ? costOf(sum) : undefined)
    }
    return rows.size > ROW_LIMIT || leftOut.length > ROW_LIMIT ? undefined : { rows: [...rows.values()], leftOut }
  },
}

function add(
  rows: Map<string, CacheRow>,
  bucket: number,
  { key, entries, tokens }: PricedSum,
  cost: CacheCost | undefined,
) {
  const name = JSON.stringify([bucket, key])
  const row = rows.get(name) ?? { ...NOTHING, bucket, key }
  rows.set(name, {
    ...row,
    entries: row.entries + entries,
    unvaluedEntries: row.unvaluedEntries + (cost ? 0 : entries),
    uncachedNanos: row.uncachedNanos + (cost?.uncachedNanos ?? 0n),
    cachedNanos: row.cachedNanos + (cost?.cachedNanos ?? 0n),
    tokens: sumTokens(row.tokens, tokens),
  })
}

function usesCache({ cacheRead, cacheWrite, cacheWrite1h }: Tokens): boolean {
  return cacheRead + cacheWrite + cacheWrite1h > 0n
}

const FREE: CacheCost = { uncachedNanos: 0n, cachedNanos: 0n }

/** Undefined if the row has no price for cached tokens, or none for input. */
function cacheCost(table: PriceTable, priceId: number, tokens: Tokens): CacheCost | undefined {
  const { cacheRead, cacheWrite, cacheWrite1h } = tokens
  const cachedNanos = standardValue(table, priceId, { ...NO_TOKENS, cacheRead, cacheWrite, cacheWrite1h })
  const uncachedNanos = standardValue(table, priceId, { ...NO_TOKENS, input: cacheRead + cacheWrite + cacheWrite1h })
  return cachedNanos === undefined || uncachedNanos === undefined ? undefined : { uncachedNanos, cachedNanos }
}

const NOTHING: Omit<CacheRow, 'bucket' | 'key'> = {
  entries: 0,
  unvaluedEntries: 0,
  uncachedNanos: 0n,
  cachedNanos: 0n,
  tokens: NO_TOKENS,
}

/** The finest buckets that the report needs. */
const dividedBy = (query: CacheQuery): CacheQuery => ({ ...query, width: query.trend ?? query.width })

export function createCache({ db, billing }: { db: Database; billing: Billing }) {
  return {
    /** Throws `validation_failed` (422) for too many groups, and `database_deadline` (503). */
    async cache(viewer: Viewer, query: CacheQuery): Promise<CacheReport> {
      const read = await settledRead(billing, query.filter, () => db.slowly(CACHE_TASK, { viewer, query }))
      if (!read) throw tooManyGroups(ROW_LIMIT)
      const { rows, leftOut } = read
      const inBucket = Map.groupBy(rows, ({ bucket }) => (query.trend ? 0 : bucket))
      const buckets = bucketsOf(query, PAGE_BUCKETS)
      return {
        ...queryBody(query),
        bucket_width: query.width,
        group_by: query.groupBy ?? null,
        totals: figuresBody(rows.reduce(sumOf, { ...NOTHING, bucket: 0, key: null })),
        left_out: leftOut.map((part) => leftOutBody(part, query.filter)),
        data: buckets.flatMap((bucket, at) => {
          const found = inBucket.get(at)
          return found ? [bucketBody(bucket, found, query)] : []
        }),
      }
    },
  }
}

function sumOf(sum: CacheRow, row: CacheRow): CacheRow {
  return {
    ...sum,
    entries: sum.entries + row.entries,
    unvaluedEntries: sum.unvaluedEntries + row.unvaluedEntries,
    uncachedNanos: sum.uncachedNanos + row.uncachedNanos,
    cachedNanos: sum.cachedNanos + row.cachedNanos,
    tokens: sumTokens(sum.tokens, row.tokens),
  }
}

/** The sums of each group in the whole period, and those in the buckets of its trend. */
function totalsOf(rows: readonly CacheRow[]): { row: CacheRow; parts: CacheRow[] }[] {
  const groups = Map.groupBy(rows, ({ key }) => JSON.stringify(key))
  return [...groups.values()].map((parts) => ({
    row: parts.reduce(sumOf, { ...NOTHING, bucket: 0, key: parts[0]!.key }),
    parts,
  }))
}

function trendBody(parts: readonly CacheRow[], query: CacheQuery): NonNullable<CacheGroup['trend']> {
  const rates = new Map(parts.map((part) => [part.bucket, figuresBody(part).hit_rate]))
  return bucketsOf(dividedBy(query), PAGE_BUCKETS).map((bucket, at) => ({
    ...periodBody(bucket),
    hit_rate: rates.get(at) ?? null,
  }))
}

function bucketBody(bucket: Bucket, rows: readonly CacheRow[], query: CacheQuery): CacheReport['data'][number] {
  const groups = totalsOf(rows).toSorted((one, other) => mostSaved(one.row, other.row))
  const results = groups.map(
    ({ row, parts }): CacheGroup => ({
      ...(query.groupBy && { [query.groupBy]: row.key }),
      ...figuresBody(row),
      ...(query.trend && { trend: trendBody(parts, query) }),
      list: listPath({ ...counted(query.filter), ...withinOf(bucket, query.filter), ...filterOf(row.key, query) }),
    }),
  )
  return { ...periodBody(bucket), results }
}

/** The bucket, within the period of the filter. */
function withinOf({ startingAt, endingAt }: Bucket, filter: EntryFilter): EntryFilter {
  return {
    starting_at: Math.max(startingAt, filter.starting_at ?? startingAt),
    ending_at: Math.min(endingAt, filter.ending_at ?? endingAt),
  }
}

function filterOf(key: Key | null, { groupBy }: CacheQuery): EntryFilter {
  if (groupBy === undefined) return {}
  return { [groupBy]: [key === null ? 'none' : typeof key === 'string' ? key : key.id] }
}

function mostSaved(one: CacheRow, other: CacheRow): number {
  const difference = other.uncachedNanos - other.cachedNanos - (one.uncachedNanos - one.cachedNanos)
  if (difference !== 0n) return difference > 0n ? 1 : -1
  return JSON.stringify(one.key) < JSON.stringify(other.key) ? -1 : 1
}

function figuresBody({ entries, unvaluedEntries, tokens, uncachedNanos, cachedNanos }: CacheRow) {
  const inputSide = tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.cacheWrite1h
  const isKnown = entries === 0 || unvaluedEntries < entries
  return {
    entries,
    unvalued_entries: unvaluedEntries,
    tokens: tokensBody(tokens),
    hit_rate: ratioNumber(tokens.cacheRead, inputSide),
    uncached_value: moneyNumber(isKnown ? uncachedNanos : null),
    cached_value: moneyNumber(isKnown ? cachedNanos : null),
    saved: moneyNumber(isKnown ? uncachedNanos - cachedNanos : null),
  }
}
