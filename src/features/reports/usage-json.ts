/**
 * The buckets of a report on usage, from the columns of its sums. Pure. `JSON.stringify` writes objects of one shape in a
 * fraction of the time that joining texts takes, also in a process that has just started.
 */
import { decimalNumber, NANO_DIGITS } from '../../lib/money.ts'
import { type SummedColumns, valueAt } from '../rollup/service.ts'
import type { Bucket } from './buckets.ts'
import { type ExtraValues, extrasBody } from './extra-figures.ts'
import type { Dimension, Key, ReportSums, USE } from './sums.ts'
import { periodBody } from './wire.ts'

export interface UsageRows extends ReportSums {
  dimensions: readonly Dimension[]
  extras: readonly ExtraValues[]
}

/** An array of the buckets that have rows, or of all. */
export function bucketsJson(buckets: readonly Bucket[], rows: UsageRows, fillGaps: boolean): string {
  const { sums } = rows
  const resultOf = resultReader(rows)
  const compare = dearestFirst(rows)
  const texts: string[] = []
  let from = 0
  for (const [index, { startingAt, endingAt, period }] of buckets.entries()) {
    const inBucket: number[] = []
    for (; from < sums.length && sums.buckets[from] === index; from += 1) inBucket.push(from)
    if (inBucket.length === 0 && !fillGaps) continue
    const results = inBucket.sort(compare).map(resultOf)
    texts.push(JSON.stringify({ ...periodBody({ startingAt, endingAt }), period: periodBody(period), results }))
  }
  return `[${texts.join()}]`
}

/** Adds the sums of a row to an object: copying them from another would take as long again. */
export function withFigures(body: Record<string, unknown>, sums: SummedColumns, row: number): object {
  const [input, output, cacheRead, cacheWrite, cacheWrite1h, cost, listValue, reportedCost] = useOf(sums)
  body.entries = sums.entries[row]
  body.unpriced_entries = sums.unpricedEntries[row]
  body.straddling_entries = sums.straddling[row]
  body.tokens = {
    input: countAt(input, row),
    output: countAt(output, row),
    cache_read: countAt(cacheRead, row),
    cache_write: countAt(cacheWrite, row),
    cache_write_1h: countAt(cacheWrite1h, row),
    total: wholeNumber(tokensAt(sums, row)),
  }
  body.cost = moneyAt(cost, row)
  body.list_value = moneyAt(listValue, row)
  body.reported_cost = moneyAt(reportedCost, row)
  return body
}

/** The cost of a row; null if none of its entries has a known one. */
export function costOf(sums: SummedColumns, row: number): number | null {
  return moneyAt(useOf(sums)[TOKEN_FIGURES], row)
}

type Integers = SummedColumns['figures'][number]

/** The figures of a report, in the order in which they are read. */
type Use = IntegersOf<typeof USE>
type IntegersOf<Figures extends readonly unknown[]> = { [At in keyof Figures]: Integers }

const useOf = ({ figures }: SummedColumns) => figures as readonly Integers[] as Use

const TOKEN_FIGURES = 5

const countAt = (integers: Integers, row: number): number => wholeNumber(valueAt(integers, row) ?? 0)

function wholeNumber(count: number | bigint): number {
  return typeof count === 'number' ? count : decimalNumber(count, 0)
}

function moneyAt(integers: Integers, row: number): number | null {
  const nanos = valueAt(integers, row)
  return nanos === null ? null : decimalNumber(nanos, NANO_DIGITS)
}

/** All tokens of a row: a bigint if a number would not be exact. */
function tokensAt({ figures }: SummedColumns, row: number): number | bigint {
  let sum = 0
  for (let at = 0; at < TOKEN_FIGURES; at += 1) sum += Number(valueAt(figures[at]!, row) ?? 0)
  if (sum <= Number.MAX_SAFE_INTEGER) return sum
  return figures.slice(0, TOKEN_FIGURES).reduce((exact, figure) => exact + BigInt(valueAt(figure, row) ?? 0), 0n)
}

const LABEL = 'label:'

function resultReader({ sums, keys, dimensions, extras }: UsageRows): (row: number) => object {
  const members = keys.map((keyOf, at) => ({ dimension: dimensions[at]!, keyOf }))
  const plain = members.filter(({ dimension }) => !dimension.startsWith(LABEL))
  const labels = members.filter(({ dimension }) => dimension.startsWith(LABEL))
  return (row) => {
    const result: Record<string, unknown> = {}
    for (const { dimension, keyOf } of plain) result[dimension] = keyOf(row)
    if (labels.length > 0) {
      result.labels = Object.fromEntries(
        labels.map(({ dimension, keyOf }) => [dimension.slice(LABEL.length), keyOf(row)]),
      )
    }
    withFigures(result, sums, row)
    return extras.length === 0 ? result : Object.assign(result, extrasBody(extras, sums, row))
  }
}

/** Below corrections, which are negative. */
const UNKNOWN = Number.NEGATIVE_INFINITY

/** By cost, with null last; then by tokens; finally by names, so that the order is deterministic. */
function dearestFirst({ sums, keys }: UsageRows): (one: number, other: number) => number {
  const cost = useOf(sums)[TOKEN_FIGURES]
  const costs = Array.from({ length: sums.length }, (_, row) => valueAt(cost, row) ?? UNKNOWN)
  const namesOf = (row: number) => JSON.stringify(keys.map((keyOf) => nameOf(keyOf(row))))
  return (one, other) =>
    descending(costs[one]!, costs[other]!) ||
    descending(tokensAt(sums, one), tokensAt(sums, other)) ||
    descending(namesOf(other), namesOf(one))
}

function descending<Value extends number | bigint | string>(one: Value, other: Value): number {
  return one === other ? 0 : one < other ? 1 : -1
}

function nameOf(key: Key | null): string | string[] | null {
  return key === null || typeof key === 'string' ? key : ['key' in key ? key.key : key.name, key.id]
}
