/**
 * Reads OTLP as JSON like Protocol Buffers: with a cursor that walks over the bytes and creates nothing for parts that
 * are not read. Of those that are, every value is checked, since clients differ: 64-bit integers are numbers or
 * strings, absent values are null, empty or missing. Unknown fields are ignored, as the protocol requires; known ones
 * may exist only once.
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/docs/specification.md#json-protobuf-encoding
 */
import { JsonCursor, JsonSyntaxError, vocabularyOf } from '../../../lib/json-cursor.ts'
import type { AttributeValue, Origin, Signal, Temporality } from '../signals.ts'
import {
  canonicalEntry,
  canonicalScalar,
  DEPTH_LIMIT,
  type EncodedAttribute,
  Malformed,
  NO_RECORDED_VALUE,
  narrow,
  requireFew,
  type Sieve,
  TEMPORALITIES,
  TEXT_LIMIT_BYTES,
  tooLongAttribute,
  type ValueReader,
} from './sieve.ts'

/** The position of a value in the bytes. */
type Position = number
/** The position of an absent value or of null. */
const NOTHING: Position = -1

type Attribute = EncodedAttribute<Position>
const NO_ATTRIBUTES: Attribute[] = []

type Take = (signal: Signal) => void

/** The names of an export's lists, from the top to the records. */
interface Lists {
  resources: string
  scopes: string
  records: string
}

const LOGS: Lists = { resources: 'resourceLogs', scopes: 'scopeLogs', records: 'logRecords' }
const METRICS: Lists = { resources: 'resourceMetrics', scopes: 'scopeMetrics', records: 'metrics' }
const SPANS: Lists = { resources: 'resourceSpans', scopes: 'scopeSpans', records: 'spans' }

/** Includes attributes of the resource that are not kept, because they distinguish streams. */
interface Resource {
  kept: Origin['resource']
  attributes: Attribute[]
}

/** Reads the next record. */
type ReadRecord = (origin: Origin, resource: Attribute[]) => void

/** The fields that are read of each message, with their defaults. */
const LOG = {
  attributes: NOTHING,
  eventName: NOTHING,
  body: NOTHING,
  timeUnixNano: NOTHING,
  observedTimeUnixNano: NOTHING,
}
const SPAN = {
  attributes: NOTHING,
  name: NOTHING,
  traceId: NOTHING,
  spanId: NOTHING,
  parentSpanId: NOTHING,
  startTimeUnixNano: NOTHING,
  endTimeUnixNano: NOTHING,
}
const METRIC = {
  name: NOTHING,
  sum: NOTHING,
  gauge: NOTHING,
  histogram: NOTHING,
  exponentialHistogram: NOTHING,
  summary: NOTHING,
}
const SUM = { dataPoints: NOTHING, aggregationTemporality: NOTHING }
const POINT = {
  attributes: NOTHING,
  asInt: NOTHING,
  asDouble: NOTHING,
  flags: NOTHING,
  startTimeUnixNano: NOTHING,
  timeUnixNano: NOTHING,
}
const RESOURCE = { attributes: NOTHING }
const SCOPE = { name: NOTHING }
const LIST = { values: NOTHING }
const SCALARS = { stringValue: NOTHING, intValue: NOTHING, doubleValue: NOTHING, boolValue: NOTHING }
const ANY_VALUE = { ...SCALARS, bytesValue: NOTHING, arrayValue: NOTHING, kvlistValue: NOTHING }

const VOCABULARY = vocabularyOf([
  'resource',
  'scope',
  'key',
  'value',
  ...[LOGS, METRICS, SPANS].flatMap(({ resources, scopes, records }) => [resources, scopes, records]),
  ...[LOG, SPAN, METRIC, SUM, POINT, RESOURCE, SCOPE, LIST, ANY_VALUE].flatMap(Object.keys),
])

type Fields<Name extends string> = Record<Name, Position>

const VALUE = 'An attribute value'

export class JsonBody implements ValueReader<Position> {
  readonly #json: JsonCursor

  /** The bytes must be valid UTF-8. */
  constructor(bytes: Uint8Array) {
    this.#json = new JsonCursor(bytes, VOCABULARY)
  }

  logs(sieve: Sieve<Position>, take: Take): void {
    this.#records(LOGS, sieve, (origin) => this.#log(origin, sieve, take))
  }

  points(sieve: Sieve<Position>, take: Take): void {
    this.#records(METRICS, sieve, (origin, resource) => this.#metric(origin, resource, sieve, take))
  }

  spans(sieve: Sieve<Position>, take: Take): void {
    this.#records(SPANS, sieve, (origin) => this.#span(origin, sieve, take))
  }

  /** Of attributes and of the bodies of log records. Also undefined if the value is too long for a name or count. */
  read(position: Position): AttributeValue | undefined {
    return position === NOTHING ? undefined : this.#scalar(this.#fields(position, VALUE, SCALARS))
  }

  canonical(position: Position, depth = 0): string {
    if (position === NOTHING) return ''
    if (depth > DEPTH_LIMIT) throw new Malformed('An attribute value is nested too deeply.')
    const value = this.#fields(position, VALUE, ANY_VALUE)
    const { stringValue, intValue, doubleValue, boolValue, bytesValue, arrayValue, kvlistValue } = value
    if (Math.max(stringValue, intValue, doubleValue, boolValue) !== NOTHING) {
      const scalar = this.#scalar(value)
      if (scalar === undefined) throw tooLongAttribute()
      return canonicalScalar(scalar, doubleValue !== NOTHING)
    }
    if (bytesValue !== NOTHING) return this.#canonicalBytes(bytesValue)
    if (arrayValue !== NOTHING) return `[${this.#canonicalItems(arrayValue, depth)}]`
    return kvlistValue === NOTHING ? '' : `{${this.#canonicalEntries(kvlistValue, depth).sort()}}`
  }

  #scalar({ stringValue, intValue, doubleValue, boolValue }: Fields<keyof typeof SCALARS>): AttributeValue | undefined {
    if (stringValue !== NOTHING) return this.#text(stringValue, 'stringValue')
    if (intValue !== NOTHING) return narrow(this.#integer(intValue, 'intValue', INT64))
    if (doubleValue !== NOTHING) return this.#double(doubleValue, 'doubleValue')
    return boolValue === NOTHING ? undefined : this.#boolean(boolValue, 'boolValue')
  }

  #canonicalBytes(position: Position): string {
    const text = this.#text(position, 'bytesValue')
    if (text === undefined) throw tooLongAttribute()
    return `x${Buffer.from(text, 'base64').toString('hex')}`
  }

  #canonicalItems(holder: Position, depth: number): string[] {
    const { values } = this.#fields(holder, 'arrayValue', LIST)
    const items: string[] = []
    if (values === NOTHING) return items
    this.#at(values, () => {
      if (this.#json.kind() !== 'list') throw new Malformed('values must be an array.')
      for (let more = this.#json.firstItem(); more; more = this.#json.nextItem()) {
        items.push(this.canonical(this.#place(), depth + 1))
        requireFew(items.length)
      }
    })
    return items
  }

  #canonicalEntries(holder: Position, depth: number): string[] {
    const { values } = this.#fields(holder, 'kvlistValue', LIST)
    if (values === NOTHING) return []
    const entries = this.#at(values, () => this.#attributes('values'))
    return entries.map(({ key, value }) => canonicalEntry(key, this.canonical(value, depth + 1)))
  }

  /** All records of the body, in any order of lists and their owners. */
  #records(lists: Lists, sieve: Sieve<Position>, read: ReadRecord): void {
    try {
      this.#members('The body', (name) => {
        if (name === lists.resources) this.#list(name, () => this.#group(lists, sieve, read))
        else this.#json.skip()
      })
      this.#json.end()
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error
      throw new Malformed('The body is not valid JSON.')
    }
  }

  #group(lists: Lists, sieve: Sieve<Position>, read: ReadRecord): void {
    sieve.countGroup()
    const resourceOf = (position: Position): Resource => {
      const { attributes } = this.#fields(position, 'resource', RESOURCE)
      const encoded = attributes === NOTHING ? NO_ATTRIBUTES : this.#at(attributes, () => this.#attributes())
      return { kept: sieve.resource(encoded), attributes: encoded }
    }
    this.#inOrder(lists.resources, 'resource', lists.scopes, resourceOf, (resource) =>
      this.#list(lists.scopes, () => this.#scope(lists, sieve, resource, read)),
    )
  }

  #scope(lists: Lists, sieve: Sieve<Position>, { kept, attributes }: Resource, read: ReadRecord): void {
    sieve.countGroup()
    const originOf = (position: Position): Origin => {
      const { name } = this.#fields(position, 'scope', SCOPE)
      return { resource: kept, scope: this.#string(name, 'name') }
    }
    this.#inOrder(lists.scopes, 'scope', lists.records, originOf, (origin) =>
      this.#list(lists.records, () => {
        sieve.count()
        read(origin, attributes)
      }),
    )
  }

  /**
   * Reads a list together with its owner: at once if the owner came first, which is nearly always the case, otherwise
   * afterwards.
   */
  #inOrder<Owner>(
    what: string,
    ownerName: string,
    listName: string,
    ownerOf: (position: Position) => Owner,
    readList: (owner: Owner) => void,
  ): void {
    let owner: { value: Owner } | undefined
    let list: Position | 'read' = NOTHING
    this.#members(what, (name) => {
      if (name === ownerName) {
        if (owner) throw twice(name)
        owner = { value: ownerOf(this.#place()) }
      } else if (name !== listName) this.#json.skip()
      else if (list !== NOTHING) throw twice(name)
      else if (owner) {
        list = 'read'
        readList(owner.value)
      } else list = this.#place()
    })
    if (typeof list !== 'number' || list === NOTHING) return
    this.#at(list, () => readList(owner ? owner.value : ownerOf(NOTHING)))
  }

  #log(origin: Origin, sieve: Sieve<Position>, take: Take): void {
    const { attributes, eventName: own, body, timeUnixNano, observedTimeUnixNano } = this.#next(LOG)
    const encoded = this.#attributesAt(attributes)
    const eventName = sieve.eventName(encoded, this.#string(own, 'eventName'), body)
    if (eventName === undefined) return
    const timeNanos =
      this.#unsigned(timeUnixNano, 'timeUnixNano') || this.#unsigned(observedTimeUnixNano, 'observedTimeUnixNano')
    take({ kind: 'log', ...origin, attributes: sieve.attributes(encoded), eventName, timeNanos })
  }

  #span(origin: Origin, sieve: Sieve<Position>, take: Take): void {
    const at = this.#next(SPAN)
    const encoded = this.#attributesAt(at.attributes)
    const name = this.#string(at.name, 'name')
    if (!sieve.wantsSpan(name, encoded)) return
    take({
      kind: 'span',
      ...origin,
      attributes: sieve.attributes(encoded),
      name,
      traceId: this.#id(at.traceId, 'traceId'),
      spanId: this.#id(at.spanId, 'spanId'),
      parentSpanId: this.#id(at.parentSpanId, 'parentSpanId'),
      startNanos: this.#unsigned(at.startTimeUnixNano, 'startTimeUnixNano'),
      endNanos: this.#unsigned(at.endTimeUnixNano, 'endTimeUnixNano'),
    })
  }

  #metric(origin: Origin, resource: Attribute[], sieve: Sieve<Position>, take: Take): void {
    const { name, sum, ...others } = this.#next(METRIC)
    const metric = this.#string(name, 'name')
    const { dataPoints, aggregationTemporality } = this.#fields(sum, 'sum', SUM)
    const points = this.#countPoints(dataPoints, sieve)
    let all = points
    for (const [kind, position] of Object.entries(others)) {
      if (position !== NOTHING) all += this.#countPoints(this.#fields(position, kind, SUM).dataPoints, sieve)
    }
    if (!sieve.readsMetric(metric)) sieve.ignorePoints(metric, all)
    else {
      const temporality = this.#temporality(aggregationTemporality)
      if (!sieve.canReadSum(metric, { points, all }, temporality)) return
      this.#listAt(dataPoints, 'dataPoints', () => {
        const { encoded, value, ended, ...times } = this.#point()
        if (!sieve.canReadPoint(metric, value, ended)) return
        const stream = sieve.stream(origin.scope, metric, resource, encoded)
        take({
          kind: 'point',
          ...origin,
          attributes: sieve.attributes(encoded),
          metric,
          stream,
          temporality,
          ...times,
          value,
        })
      })
    }
  }

  #countPoints(position: Position, sieve: Sieve<Position>): number {
    let points = 0
    this.#listAt(position, 'dataPoints', () => {
      sieve.count()
      points += 1
      this.#json.skip()
    })
    return points
  }

  #point() {
    const at = this.#next(POINT)
    return {
      value: this.#value(at.asInt, at.asDouble),
      ended: (Number(this.#unsigned(at.flags, 'flags')) & NO_RECORDED_VALUE) !== 0,
      encoded: this.#attributesAt(at.attributes),
      startNanos: this.#unsigned(at.startTimeUnixNano, 'startTimeUnixNano'),
      timeNanos: this.#unsigned(at.timeUnixNano, 'timeUnixNano'),
    }
  }

  #value(asInt: Position, asDouble: Position): number | bigint | undefined {
    if (asInt !== NOTHING) return narrow(this.#integer(asInt, 'asInt', INT64))
    return asDouble === NOTHING ? undefined : this.#double(asDouble, 'asDouble')
  }

  /** The protocol allows only the number; generic converters of Protocol Buffers write names. */
  #temporality(position: Position): Temporality | undefined {
    if (position === NOTHING) return undefined
    return this.#at(position, () => {
      switch (this.#json.kind() === 'string' ? this.#json.string(TEXT_LIMIT_BYTES) : this.#json.scalar()) {
        case '1':
        case 'AGGREGATION_TEMPORALITY_DELTA':
          return TEMPORALITIES[1]
        case '2':
        case 'AGGREGATION_TEMPORALITY_CUMULATIVE':
          return TEMPORALITIES[2]
        default:
          return undefined
      }
    })
  }

  #attributesAt(position: Position): Attribute[] {
    return position === NOTHING ? NO_ATTRIBUTES : this.#at(position, () => this.#attributes())
  }

  /** The next list of names and values: most of a body, so it is read in one pass. */
  #attributes(list = 'attributes'): Attribute[] {
    const json = this.#json
    const encoded: Attribute[] = []
    this.#list(list, () => {
      let key: string | undefined
      let value = NOTHING
      for (let name = json.firstName(); name !== undefined; name = json.nextName()) {
        if (name === 'value') value = this.#place(value, name)
        else if (name !== 'key') json.skip()
        else if (key !== undefined) throw twice(name)
        else key = this.#nextString(name)
      }
      encoded.push({ key: key ?? '', value })
      requireFew(encoded.length)
    })
    return encoded
  }

  /** The next name; null counts as empty. */
  #nextString(name: string): string {
    const kind = this.#json.kind()
    if (kind === 'string') return (this.#json.string(TEXT_LIMIT_BYTES) ?? '').toWellFormed()
    if (kind !== 'null') throw new Malformed(`${name} must be a string.`)
    this.#json.skip()
    return ''
  }

  /** The positions of the fields of the next object, which is skipped. */
  #next<Name extends string>(absent: Fields<Name>): Fields<Name> {
    const found = { ...absent }
    for (let name = this.#json.firstName(); name !== undefined; name = this.#json.nextName()) {
      if (Object.hasOwn(absent, name)) found[name as Name] = this.#place(found[name as Name], name)
      else this.#json.skip()
    }
    return found
  }

  #fields<Name extends string>(position: Position, what: string, absent: Fields<Name>): Fields<Name> {
    if (position === NOTHING) return absent
    const before = this.#json.position
    this.#json.position = position
    this.#requireObject(what)
    const found = this.#next(absent)
    this.#json.position = before
    return found
  }

  #members(what: string, read: (name: string) => void): void {
    this.#requireObject(what)
    for (let name = this.#json.firstName(); name !== undefined; name = this.#json.nextName()) read(name)
  }

  #requireObject(what: string): void {
    if (this.#json.kind() !== 'object') throw new Malformed(`${what} must be an object.`)
  }

  #listAt(position: Position, name: string, read: () => void): void {
    if (position !== NOTHING) this.#at(position, () => this.#list(name, read))
  }

  /** Reads each item of the next list; all must be objects. */
  #list(name: string, read: () => void): void {
    const kind = this.#json.kind()
    if (kind === 'null') {
      this.#json.skip()
      return
    }
    if (kind !== 'list') throw new Malformed(`${name} must be an array.`)
    for (let more = this.#json.firstItem(); more; more = this.#json.nextItem()) {
      this.#requireObject(`Each of ${name}`)
      read()
    }
  }

  /** Skips the next value and returns its position; a member may exist only once. */
  #place(before: Position = NOTHING, name = ''): Position {
    if (before !== NOTHING) throw twice(name)
    return this.#json.skip()
  }

  /** Reads at a position, and returns to the current one. */
  #at<Result>(position: Position, read: () => Result): Result {
    const before = this.#json.position
    this.#json.position = position
    const result = read()
    this.#json.position = before
    return result
  }

  /**
   * Undefined if it is longer than all texts that are read. Half of a surrogate pair is replaced, as in other
   * encodings.
   */
  #text(position: Position, name: string): string | undefined {
    const before = this.#json.position
    this.#json.position = position
    if (this.#json.kind() !== 'string') throw new Malformed(`${name} must be a string.`)
    const text = this.#json.string(TEXT_LIMIT_BYTES)
    this.#json.position = before
    return text?.toWellFormed()
  }

  #string(position: Position, name: string): string {
    return position === NOTHING ? '' : (this.#text(position, name) ?? '')
  }

  #id(position: Position, name: string): string {
    const id = this.#string(position, name)
    if (/^[0-9a-f]*$/i.test(id)) return id.toLowerCase()
    throw new Malformed(`${name} must be hexadecimal.`)
  }

  #unsigned(position: Position, name: string): bigint {
    return position === NOTHING || this.#isEmpty(position) ? 0n : this.#integer(position, name, UINT64)
  }

  #isEmpty(position: Position): boolean {
    return this.#at(position, () => this.#json.kind() === 'string' && this.#json.string(TEXT_LIMIT_BYTES) === '')
  }

  #integer(position: Position, name: string, { min, max }: Range): bigint {
    const { text, isNumber } = this.#number(position)
    const integer =
      text !== undefined && INTEGER.test(text)
        ? BigInt(text)
        : // 1e3 and 1.0 are integers as well.
          isNumber && Number.isInteger(Number(text))
          ? BigInt(Number(text))
          : undefined
    if (integer !== undefined && integer >= min && integer <= max) return integer
    throw new Malformed(`${name} must be a 64-bit integer.`)
  }

  #double(position: Position, name: string): number {
    const { text, isNumber } = this.#number(position)
    const number = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
    if (isNumber || !Number.isNaN(number) || NOT_FINITE.includes(text!)) return number
    throw new Malformed(`${name} must be a number.`)
  }

  /** The number as in the body; undefined if the value is neither a number nor a string of suitable length. */
  #number(position: Position): { text: string | undefined; isNumber: boolean } {
    return this.#at(position, () => {
      const kind = this.#json.kind()
      if (kind === 'string') return { text: this.#json.string(TEXT_LIMIT_BYTES), isNumber: false }
      if (kind !== 'number') return { text: undefined, isNumber: false }
      const text = this.#json.scalar()
      if (!NUMBER.test(text)) throw new JsonSyntaxError('A number is not valid JSON.')
      return { text, isNumber: true }
    })
  }

  #boolean(position: Position, name: string): boolean {
    const text = this.#at(position, () => (this.#json.kind() === 'boolean' ? this.#json.scalar() : undefined))
    if (text === 'true' || text === 'false') return text === 'true'
    throw new Malformed(`${name} must be true or false.`)
  }
}

function twice(name: string): Malformed {
  return new Malformed(`${name} is duplicated in an object.`)
}

interface Range {
  min: bigint
  max: bigint
}

const INT64: Range = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const UINT64: Range = { min: 0n, max: 2n ** 64n - 1n }

/** Longer ones are out of every range, and take increasingly long to parse. */
const INTEGER = /^-?\d{1,40}$/

/** Numbers in JSON's format. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** JSON can only represent these three as strings. */
const NOT_FINITE = ['NaN', 'Infinity', '-Infinity']
