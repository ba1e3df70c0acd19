/**
 * Serializes the buckets of a report on usage, straight from the columns of its sums: objects for ten thousand rows would
 * take longer than all the rest. Pure.
 */
import { decimalText, NANO_DIGITS } from '../../lib/money.ts'
import { type SummedColumns, valueAt } from '../rollup/service.ts'
import type { Bucket } from './buckets.ts'
import { type ExtraValues, extrasJson } from './extra-figures.ts'
import type { Dimension, Key, Keys, ReportSums, USE } from './sums.ts'
import { periodBody } from './wire.ts'

export interface UsageRows extends ReportSums {
  dimensions: readonly Dimension[]
  extras: readonly ExtraValues[]
}

/** An array of the buckets that have rows, or of all. */
export function bucketsJson(buckets: readonly Bucket[], rows: UsageRows, fillGaps: boolean): string {
  const { sums } = rows
  const resultOf = resultWriter(rows)
  const compare = dearestFirst(rows)
  const texts: string[] = []
  let from = 0
  for (const [index, { startingAt, endingAt, period }] of buckets.entries()) {
    const inBucket: number[] = []
    for (; from < sums.length && sums.buckets[from] === index; from += 1) inBucket.push(from)
    if (inBucket.length === 0 && !fillGaps) continue
    const head = JSON.stringify({ ...periodBody({ startingAt, endingAt }), period: periodBody(period) })
    texts.push(`${head.slice(0, -1)},"results":[${inBucket.sort(compare).map(resultOf).join()}]}`)
  }
  return `[${texts.join()}]`
}

/** The sums of a row, as the members of an object. */
export function figuresJson(sums: SummedColumns, row: number): string {
  const [input, output, cacheRead, cacheWrite, cacheWrite1h, cost, listValue, reportedCost] =
    sums.figures as readonly Integers[] as Use
  const counts = `"entries":${sums.entries[row]},"unpriced_entries":${sums.unpricedEntries[row]},"straddling_entries":${sums.straddling[row]}`
  const tokens = `"input":${countAt(input, row)},"output":${countAt(output, row)},"cache_read":${countAt(cacheRead, row)},"cache_write":${countAt(cacheWrite, row)},"cache_write_1h":${countAt(cacheWrite1h, row)},"total":${tokensAt(sums, row)}`
  return `${counts},"tokens":{${tokens}},"cost":${moneyAt(cost, row)},"list_value":${moneyAt(listValue, row)},"reported_cost":${moneyAt(reportedCost, row)}`
}

/** The cost of a row; `null` if none of its entries has a known one. */
export function costText({ figures }: SummedColumns, row: number): string {
  return moneyAt((figures as readonly Integers[] as Use)[TOKEN_FIGURES]!, row)
}

type Integers = SummedColumns['figures'][number]

/** The figures of a report, in the order in which they are read. */
type Use = IntegersOf<typeof USE>
type IntegersOf<Figures extends readonly unknown[]> = { [At in keyof Figures]: Integers }

const TOKEN_FIGURES = 5

function countAt(integers: Integers, row: number): number | bigint {
  return valueAt(integers, row) ?? 0
}

function moneyAt(integers: Integers, row: number): string {
  const nanos = valueAt(integers, row)
  return nanos === null ? 'null' : decimalText(nanos, NANO_DIGITS)
}

/** All tokens of a row: a bigint if a number would not be exact. */
function tokensAt({ figures }: SummedColumns, row: number): number | bigint {
  let sum = 0
  for (let at = 0; at < TOKEN_FIGURES; at += 1) sum += Number(countAt(figures[at]!, row))
  if (sum <= Number.MAX_SAFE_INTEGER) return sum
  return figures.slice(0, TOKEN_FIGURES).reduce((exact, figure) => exact + BigInt(countAt(figure, row)), 0n)
}

const LABEL = 'label:'

function resultWriter({ sums, keys, dimensions, extras }: UsageRows): (row: number) => string {
  const isLabel = (at: number) => dimensions[at]!.startsWith(LABEL)
  const texts = keys.map((keyOf, at) => memberWriter(dimensions[at]!.replace(LABEL, ''), sums.keys[at]!, keyOf))
  const plain = texts.filter((_, at) => !isLabel(at))
  const labels = texts.filter((_, at) => isLabel(at))
  return (row) => {
    let text = '{'
    for (const member of plain) text += `${member(row)},`
    if (labels.length > 0) text += `"labels":{${labels.map((member) => member(row)).join()}},`
    return `${text}${figuresJson(sums, row)}${extrasJson(extras, sums, row)}}`
  }
}

/** Writes the value of a dimension, once for each key. */
function memberWriter(name: string, keys: Int32Array, keyOf: Keys): (row: number) => string {
  const texts = new Map<number, string>()
  return (row) => {
    let text = texts.get(keys[row]!)
    if (text === undefined) {
      text = `${JSON.stringify(name)}:${JSON.stringify(keyOf(row))}`
      texts.set(keys[row]!, text)
    }
    return text
  }
}

/** Below corrections, which are negative. */
const UNKNOWN = Number.NEGATIVE_INFINITY

/** By cost, with null last; then by tokens; finally by names, so that the order is deterministic. */
function dearestFirst({ sums, keys }: UsageRows): (one: number, other: number) => number {
  const cost = (sums.figures as readonly Integers[] as Use)[5]
  const namesOf = (row: number) => JSON.stringify(keys.map((keyOf) => nameOf(keyOf(row))))
  return (one, other) =>
    descending(valueAt(cost, one) ?? UNKNOWN, valueAt(cost, other) ?? UNKNOWN) ||
    descending(tokensAt(sums, one), tokensAt(sums, other)) ||
    descending(namesOf(other), namesOf(one))
}

function descending<Value extends number | bigint | string>(one: Value, other: Value): number {
  return one === other ? 0 : one < other ? 1 : -1
}

function nameOf(key: Key | null): string | string[] | null {
  return key === null || typeof key === 'string' ? key : ['key' in key ? key.key : key.name, key.id]
}
