/** Serializes reports. */

import type { Span } from '../../lib/calendar.ts'
import { timestamp } from '../../lib/duration.ts'
import { decimalNumber, divideHalfEven, moneyNumber } from '../../lib/money.ts'
import type { Bucket } from './buckets.ts'
import type { UsageBucket, UsageResult } from './schema.ts'
import type { Dimension, Key, SumsRow } from './sums.ts'

/** The sums of a group or of all, without its bucket and keys. */
export type Figures = Omit<SumsRow, 'bucket' | 'keys'>

export const NO_FIGURES: Figures = {
  entries: 0,
  unpricedEntries: 0,
  straddling: 0,
  tokens: { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n, cacheWrite1h: 0n },
  costNanos: null,
  listValueNanos: null,
  reportedCostNanos: null,
}

export function addFigures(one: Figures, other: Figures): Figures {
  return {
    entries: one.entries + other.entries,
    unpricedEntries: one.unpricedEntries + other.unpricedEntries,
    straddling: one.straddling + other.straddling,
    tokens: {
      input: one.tokens.input + other.tokens.input,
      output: one.tokens.output + other.tokens.output,
      cacheRead: one.tokens.cacheRead + other.tokens.cacheRead,
      cacheWrite: one.tokens.cacheWrite + other.tokens.cacheWrite,
      cacheWrite1h: one.tokens.cacheWrite1h + other.tokens.cacheWrite1h,
    },
    costNanos: addKnown(one.costNanos, other.costNanos),
    listValueNanos: addKnown(one.listValueNanos, other.listValueNanos),
    reportedCostNanos: addKnown(one.reportedCostNanos, other.reportedCostNanos),
  }
}

/** Unknown values add nothing, but are not 0. */
function addKnown(one: bigint | null, other: bigint | null): bigint | null {
  return one === null || other === null ? (one ?? other) : one + other
}

function periodBody({ startingAt, endingAt }: Span) {
  return { starting_at: timestamp(startingAt), ending_at: timestamp(endingAt) }
}

/** The query of a report, which every report repeats. */
export function askedBody({ timeZone, ...period }: Span & { timeZone: string }) {
  return { ...periodBody(period), time_zone: timeZone, currency: 'USD' as const }
}

/** A count as an exact JSON number of any size; as with money, never calculate with it. */
function wholeNumber(count: bigint): number {
  return decimalNumber(count, 0)
}

export function tokensBody({ input, output, cacheRead, cacheWrite, cacheWrite1h }: SumsRow['tokens']) {
  return {
    input: wholeNumber(input),
    output: wholeNumber(output),
    cache_read: wholeNumber(cacheRead),
    cache_write: wholeNumber(cacheWrite),
    cache_write_1h: wholeNumber(cacheWrite1h),
    total: wholeNumber(totalOf({ input, output, cacheRead, cacheWrite, cacheWrite1h })),
  }
}

function totalOf({ input, output, cacheRead, cacheWrite, cacheWrite1h }: SumsRow['tokens']): bigint {
  return input + output + cacheRead + cacheWrite + cacheWrite1h
}

export function figuresBody(figures: Figures) {
  return {
    entries: figures.entries,
    unpriced_entries: figures.unpricedEntries,
    straddling_entries: figures.straddling,
    tokens: tokensBody(figures.tokens),
    cost: moneyNumber(figures.costNanos),
    list_value: moneyNumber(figures.listValueNanos),
    reported_cost: moneyNumber(figures.reportedCostNanos),
  }
}

const LABEL = 'label:'

function resultBody(row: SumsRow, dimensions: readonly Dimension[]): UsageResult {
  const keys = dimensions.map((dimension, index) => [dimension, row.keys[index] ?? null] as const)
  const labels = keys.filter(([dimension]) => dimension.startsWith(LABEL))
  return {
    ...Object.fromEntries(keys.filter(([dimension]) => !dimension.startsWith(LABEL))),
    ...(labels.length > 0
      ? { labels: Object.fromEntries(labels.map(([dimension, key]) => [dimension.slice(LABEL.length), key])) }
      : {}),
    ...figuresBody(row),
  } as UsageResult
}

export function bucketBody(
  { startingAt, endingAt, period }: Bucket,
  rows: SumsRow[],
  dimensions: readonly Dimension[],
): UsageBucket {
  return {
    ...periodBody({ startingAt, endingAt }),
    period: periodBody(period),
    results: rows.toSorted(dearestFirst).map((row) => resultBody(row, dimensions)),
  }
}

/** By cost, with null last; then by tokens; finally by names, so that the order is deterministic. */
function dearestFirst(one: SumsRow, other: SumsRow): number {
  return (
    descending(one.costNanos ?? -1n, other.costNanos ?? -1n) ||
    descending(totalOf(one.tokens), totalOf(other.tokens)) ||
    descending(namesOf(other), namesOf(one))
  )
}

function descending<T extends bigint | string>(one: T, other: T): number {
  return one === other ? 0 : one < other ? 1 : -1
}

function namesOf({ keys }: SumsRow): string {
  return JSON.stringify(keys.map((key) => (typeof key === 'string' ? key : nameOf(key))))
}

function nameOf(key: Exclude<Key, string> | null): string[] | null {
  return key && ['key' in key ? key.key : key.name, key.id]
}

/** Six decimals represent a millionth of the difference, which is less than a cent in most cases. */
const RATIO_DIGITS = 6

export function differenceBody({
  reportedCostNanos: reported,
  listValueNanos: list,
}: {
  reportedCostNanos: bigint | null
  listValueNanos: bigint | null
}) {
  const isKnown = reported !== null && list !== null
  return {
    reported_cost: moneyNumber(reported),
    list_value: moneyNumber(list),
    difference: moneyNumber(isKnown ? reported - list : null),
    ratio:
      isKnown && list > 0n
        ? decimalNumber(divideHalfEven(reported * 10n ** BigInt(RATIO_DIGITS), list), RATIO_DIGITS)
        : null,
  }
}
