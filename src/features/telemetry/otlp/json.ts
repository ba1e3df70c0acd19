/**
 * OTLP as JSON. All of a body is parsed, as there is no knowing where it ends otherwise, but only what is wanted is
 * looked at, and of that every value, since clients differ: 64-bit integers are numbers or strings, absent values are
 * null, empty or missing. Unknown fields are ignored, as the protocol asks.
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/docs/specification.md#json-protobuf-encoding
 */
import { numberText, parseExactJson } from '../../../lib/exact-json.ts'
import type { AttributeValue, Origin, PointSignal, Signal, Temporality } from '../signals.ts'
import {
  canonicalEntry,
  canonicalScalar,
  DEPTH_LIMIT,
  type EncodedAttribute,
  Malformed,
  NO_RECORDED_VALUE,
  narrow,
  type Sieve,
  TEMPORALITIES,
  type ValueReader,
} from './sieve.ts'

type Message = Record<string, unknown>

type Json = Sieve<unknown>

export function jsonLogs(text: string, sieve: Json): Signal[] {
  return [...records(text, sieve, 'resourceLogs', 'scopeLogs', 'logRecords')].flatMap(({ origin, record }) => {
    const encoded = attributesOf(record)
    const eventName = sieve.eventName(encoded, stringOf(record, 'eventName'), record.body)
    if (eventName === undefined) return []
    const attributes = sieve.attributes(encoded)
    const timeNanos = unsignedOf(record, 'timeUnixNano') || unsignedOf(record, 'observedTimeUnixNano')
    return [{ kind: 'log', ...origin, attributes, eventName, timeNanos }]
  })
}

export function jsonSpans(text: string, sieve: Json): Signal[] {
  return [...records(text, sieve, 'resourceSpans', 'scopeSpans', 'spans')].flatMap(({ origin, record }) => {
    const encoded = attributesOf(record)
    const name = stringOf(record, 'name')
    if (!sieve.wantsSpan(name, encoded)) return []
    return [
      {
        kind: 'span',
        ...origin,
        attributes: sieve.attributes(encoded),
        name,
        traceId: idOf(record, 'traceId'),
        spanId: idOf(record, 'spanId'),
        parentSpanId: idOf(record, 'parentSpanId'),
        startNanos: unsignedOf(record, 'startTimeUnixNano'),
        endNanos: unsignedOf(record, 'endTimeUnixNano'),
      },
    ]
  })
}

export function jsonPoints(text: string, sieve: Json): Signal[] {
  return [...records(text, sieve, 'resourceMetrics', 'scopeMetrics', 'metrics')].flatMap(
    ({ origin, resource, record }) => {
      const metric = stringOf(record, 'name')
      if (sieve.wantsMetric(metric)) return pointsOf(origin, resource, metric, record, sieve)
      sieve.ignorePoints(metric, pointCount(record))
      return []
    },
  )
}

const OTHER_KINDS = ['gauge', 'histogram', 'exponentialHistogram', 'summary']

function pointCount(metric: Message): number {
  return [...OTHER_KINDS, 'sum'].reduce((sum, kind) => sum + listOf(messageOf(metric, kind), 'dataPoints').length, 0)
}

function pointsOf(
  origin: Origin,
  resource: EncodedAttribute<unknown>[],
  metric: string,
  record: Message,
  sieve: Json,
): PointSignal[] {
  const sum = messageOf(record, 'sum')
  const points = listOf(sum, 'dataPoints')
  const temporality = temporalityOf(sum)
  if (!sieve.takesSum(metric, { points: points.length, all: pointCount(record) }, temporality)) return []
  return points.flatMap((point) => {
    const value = figureOf(point)
    const ended = (Number(unsignedOf(point, 'flags')) & NO_RECORDED_VALUE) !== 0
    if (!sieve.takesPoint(metric, value, ended)) return []
    const encoded = attributesOf(point)
    return [
      {
        kind: 'point',
        ...origin,
        attributes: sieve.attributes(encoded),
        metric,
        stream: sieve.stream(origin.scope, metric, resource, encoded),
        temporality,
        startNanos: unsignedOf(point, 'startTimeUnixNano'),
        timeNanos: unsignedOf(point, 'timeUnixNano'),
        value,
      },
    ]
  })
}

/** The protocol allows the number alone; names come from what makes JSON of Protocol Buffers generically. */
function temporalityOf({ aggregationTemporality: sent }: Message): Temporality | undefined {
  if (sent === 'AGGREGATION_TEMPORALITY_DELTA') return 'delta'
  if (sent === 'AGGREGATION_TEMPORALITY_CUMULATIVE') return 'cumulative'
  return TEMPORALITIES[sent as 1 | 2]
}

function figureOf(point: Message): number | bigint | undefined {
  if (isGiven(point.asInt)) return narrow(integerOf(point, 'asInt', INT64))
  return isGiven(point.asDouble) ? doubleOf(point.asDouble, 'asDouble') : undefined
}

/** Every record of a body with what stands above it. */
function* records(text: string, sieve: Json, resources: string, scopes: string, name: string) {
  for (const group of listOf(parse(text), resources)) {
    const resource = attributesOf(messageOf(group, 'resource'))
    const kept = sieve.resource(resource)
    for (const scoped of listOf(group, scopes)) {
      const origin: Origin = { resource: kept, scope: stringOf(messageOf(scoped, 'scope'), 'name') }
      for (const record of listOf(scoped, name)) yield { origin, resource, record }
    }
  }
}

/**
 * An integer that a double would round: most clients send those as strings. Reading a megabyte to the last digit takes
 * 14 ms instead of 2; doubles of many digits are no reason to, for they were doubles before.
 */
const LONG_INTEGER = /[\s:,[]-?\d{16,}[\s,\]}]/

function parse(text: string): Message {
  let value: unknown
  try {
    value = LONG_INTEGER.test(text) ? parseExactJson(text) : JSON.parse(text)
  } catch {
    throw new Malformed('The body is not valid JSON, or nested too deeply.')
  }
  return asMessage(value, 'The body')
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function asMessage(value: unknown, what: string): Message {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Message
  throw new Malformed(`${what} must be an object.`)
}

const NOTHING: Message = {}

function messageOf(holder: Message, name: string): Message {
  const value = holder[name]
  return isGiven(value) ? asMessage(value, name) : NOTHING
}

function listOf(holder: Message, name: string): Message[] {
  const value = holder[name] ?? []
  if (!Array.isArray(value)) throw new Malformed(`${name} must be an array.`)
  for (const item of value) asMessage(item, `Each of ${name}`)
  return value
}

function stringOf(holder: Message, name: string): string {
  const value = holder[name] ?? ''
  if (typeof value !== 'string') throw new Malformed(`${name} must be a string.`)
  // Half of a surrogate pair, of a text that was cut off, is what other encodings make of it.
  return value.toWellFormed()
}

function idOf(holder: Message, name: string): string {
  const value = stringOf(holder, name)
  if (/^[0-9a-f]*$/i.test(value)) return value.toLowerCase()
  throw new Malformed(`${name} must be hexadecimal.`)
}

interface Range {
  min: bigint
  max: bigint
}

const INT64: Range = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const UINT64: Range = { min: 0n, max: 2n ** 64n - 1n }

/** Longer ones are out of every range, and take ever longer to read. */
const INTEGER = /^-?\d{1,40}$/

function integerOf(holder: Message, name: string, { min, max }: Range): bigint {
  const value = holder[name]
  const text = typeof value === 'number' ? numberText(holder as Record<string, number>, name) : value
  const integer =
    typeof text === 'string' && INTEGER.test(text)
      ? BigInt(text)
      : // 1e3 and 1.0 are integers as well.
        typeof value === 'number' && Number.isInteger(value)
        ? BigInt(value)
        : undefined
  if (integer !== undefined && integer >= min && integer <= max) return integer
  throw new Malformed(`${name} must be an integer of 64 bits.`)
}

function unsignedOf(holder: Message, name: string): bigint {
  return isGiven(holder[name]) && holder[name] !== '' ? integerOf(holder, name, UINT64) : 0n
}

/** JSON has no other way to write these three. */
const NOT_FINITE = ['NaN', 'Infinity', '-Infinity']

function doubleOf(value: unknown, name: string): number {
  if (typeof value === 'number') return value
  if (typeof value === 'string' && value.trim() !== '') {
    const number = Number(value)
    if (!Number.isNaN(number) || NOT_FINITE.includes(value)) return number
  }
  throw new Malformed(`${name} must be a number.`)
}

function attributesOf(holder: Message): EncodedAttribute<unknown>[] {
  return listOf(holder, 'attributes').map((attribute) => ({ key: stringOf(attribute, 'key'), value: attribute.value }))
}

function scalarOf(value: Message): AttributeValue | undefined {
  if (isGiven(value.stringValue)) return stringOf(value, 'stringValue')
  if (isGiven(value.intValue)) return narrow(integerOf(value, 'intValue', INT64))
  if (isGiven(value.doubleValue)) return doubleOf(value.doubleValue, 'doubleValue')
  if (!isGiven(value.boolValue)) return undefined
  if (typeof value.boolValue === 'boolean') return value.boolValue
  throw new Malformed('boolValue must be true or false.')
}

function canonical(encoded: unknown, depth = 0): string {
  if (!isGiven(encoded)) return ''
  if (depth > DEPTH_LIMIT) throw new Malformed('The values of an attribute are nested too deeply.')
  const value = asMessage(encoded, VALUE)
  const scalar = scalarOf(value)
  if (scalar !== undefined) return canonicalScalar(scalar, isGiven(value.doubleValue))
  if (isGiven(value.bytesValue)) return `x${Buffer.from(stringOf(value, 'bytesValue'), 'base64').toString('hex')}`
  if (isGiven(value.arrayValue)) {
    const values = messageOf(value, 'arrayValue').values ?? []
    if (!Array.isArray(values)) throw new Malformed('values must be an array.')
    return `[${values.map((item) => canonical(item, depth + 1))}]`
  }
  if (!isGiven(value.kvlistValue)) return ''
  const entries = listOf(messageOf(value, 'kvlistValue'), 'values')
  return `{${entries.map((entry) => canonicalEntry(stringOf(entry, 'key'), canonical(entry.value, depth + 1))).sort()}}`
}

const VALUE = 'The value of an attribute'

/** Of attributes and of the bodies of log records. */
export const JSON_VALUES: ValueReader<unknown> = {
  read: (encoded) => (isGiven(encoded) ? scalarOf(asMessage(encoded, VALUE)) : undefined),
  canonical: (encoded) => canonical(encoded),
}
