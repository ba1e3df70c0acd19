/**
 * OTLP as Protocol Buffers, by a reader that walks over the bytes: of a megabyte of traces one record may count, and
 * decoding whole messages would make objects of all the others. Field numbers are those of
 * https://github.com/open-telemetry/opentelemetry-proto/tree/main/opentelemetry/proto
 *
 * Fields may come in any order, so what a record hangs from is read before what hangs from it: a position in the bytes
 * stands for a part until then.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
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

/** Where in the bytes a part begins, with its length. The whole body is at 0, where no part can be: a tag comes before. */
type Position = number
const WHOLE: Position = 0
/** Stands for a part that is not there. */
const NOTHING: Position = -1

const sized = (field: number) => (field << 3) | WireType.LengthDelimited
const fixed64 = (field: number) => (field << 3) | WireType.Bit64
const varint = (field: number) => (field << 3) | WireType.Varint

/** What stands above a metric: of the resource also what is not kept, for it tells streams apart. */
interface AboveMetric {
  origin: Origin
  resource: EncodedAttribute<Position>[]
}

/** The same numbers in requests, resources and scopes of all three signals. */
const RESOURCES = sized(1)
const RESOURCE = sized(1)
const SCOPES = sized(2)
const SCOPE = sized(1)
const RECORDS = sized(2)
const RESOURCE_ATTRIBUTES = sized(1)
const SCOPE_NAME = sized(1)

const ATTRIBUTE = { key: sized(1), value: sized(2) }
const VALUE = {
  string: sized(1),
  bool: varint(2),
  int: varint(3),
  double: fixed64(4),
  array: sized(5),
  map: sized(6),
  bytes: sized(7),
}
/** Of arrays and of maps. */
const VALUES = sized(1)
const LOG = { time: fixed64(1), body: sized(5), attributes: sized(6), observed: fixed64(11), eventName: sized(12) }
/** Gauge, sum, histogram, exponential histogram and summary. */
const METRIC = { name: sized(1), kinds: [5, 7, 9, 10, 11].map(sized), sum: sized(7) }
const SUM = { points: sized(1), temporality: varint(2) }
const POINT = {
  start: fixed64(2),
  time: fixed64(3),
  double: fixed64(4),
  int: fixed64(6),
  attributes: sized(7),
  flags: varint(8),
}
const SPAN = {
  traceId: sized(1),
  spanId: sized(2),
  parentSpanId: sized(4),
  name: sized(5),
  start: fixed64(7),
  end: fixed64(8),
  attributes: sized(9),
}

export class ProtobufBody implements ValueReader<Position> {
  readonly #reader: BinaryReader

  constructor(bytes: Uint8Array) {
    this.#reader = new BinaryReader(bytes)
  }

  logs(sieve: Sieve<Position>): Signal[] {
    return [...this.#records(sieve)].flatMap(({ origin, record }) => this.#log(origin, record, sieve))
  }

  points(sieve: Sieve<Position>): Signal[] {
    return [...this.#records(sieve)].flatMap(({ record, ...above }) => this.#metric(above, record, sieve))
  }

  spans(sieve: Sieve<Position>): Signal[] {
    return [...this.#records(sieve)].flatMap(({ origin, record }) => this.#span(origin, record, sieve))
  }

  /** Of attributes and of the bodies of log records. */
  read(position: Position): AttributeValue | undefined {
    let value: AttributeValue | undefined
    this.#message(position, (tag, reader) => {
      if (tag === VALUE.string) value = reader.string(true)
      else if (tag === VALUE.bool) value = reader.bool()
      else if (tag === VALUE.int) value = narrow(BigInt(reader.int64()))
      else if (tag === VALUE.double) value = reader.double()
      else return false
      return true
    })
    return value
  }

  canonical(position: Position, depth = 0): string {
    if (depth > DEPTH_LIMIT) throw new Malformed('The values of an attribute are nested too deeply.')
    const scalar = this.read(position)
    let text = ''
    this.#message(position, (tag, reader) => {
      if (tag === VALUE.array) {
        text = `[${this.#parts(this.#skip(), VALUES).map((item) => this.canonical(item, depth + 1))}]`
      } else if (tag === VALUE.map) {
        const entries = this.#attributes(this.#skip(), VALUES)
        text = `{${entries.map(({ key, value }) => canonicalEntry(key, this.canonical(value, depth + 1))).sort()}}`
      } else if (tag === VALUE.bytes) text = `x${reader.bytes().toHex()}`
      else {
        if (scalar !== undefined) text = canonicalScalar(scalar, tag === VALUE.double)
        return false
      }
      return true
    })
    return text
  }

  /** Every record of the body with what stands above it. */
  *#records(sieve: Sieve<Position>) {
    for (const group of this.#parts(WHOLE, RESOURCES)) {
      const resource = this.#attributes(this.#part(group, RESOURCE), RESOURCE_ATTRIBUTES)
      const kept = sieve.resource(resource)
      for (const scoped of this.#parts(group, SCOPES)) {
        const origin: Origin = { resource: kept, scope: this.#string(this.#part(scoped, SCOPE), SCOPE_NAME) }
        for (const record of this.#parts(scoped, RECORDS)) yield { origin, resource, record }
      }
    }
  }

  #log(origin: Origin, record: Position, sieve: Sieve<Position>): Signal[] {
    const encoded: EncodedAttribute<Position>[] = []
    let [time, observed, own] = [0n, 0n, '']
    let body: Position | undefined
    this.#message(record, (tag, reader) => {
      if (tag === LOG.attributes) encoded.push(this.#attribute(this.#skip()))
      else if (tag === LOG.time) time = BigInt(reader.fixed64())
      else if (tag === LOG.observed) observed = BigInt(reader.fixed64())
      else if (tag === LOG.body) body = this.#skip()
      else if (tag === LOG.eventName) own = reader.string(true)
      else return false
      return true
    })
    const eventName = sieve.eventName(encoded, own, body)
    if (eventName === undefined) return []
    const attributes = sieve.attributes(encoded)
    return [{ kind: 'log', ...origin, attributes, eventName, timeNanos: time || observed }]
  }

  #span(origin: Origin, record: Position, sieve: Sieve<Position>): Signal[] {
    const encoded: EncodedAttribute<Position>[] = []
    let [name, traceId, spanId, parentSpanId, startNanos, endNanos] = ['', '', '', '', 0n, 0n]
    this.#message(record, (tag, reader) => {
      if (tag === SPAN.attributes) encoded.push(this.#attribute(this.#skip()))
      else if (tag === SPAN.name) name = reader.string(true)
      else if (tag === SPAN.traceId) traceId = reader.bytes().toHex()
      else if (tag === SPAN.spanId) spanId = reader.bytes().toHex()
      else if (tag === SPAN.parentSpanId) parentSpanId = reader.bytes().toHex()
      else if (tag === SPAN.start) startNanos = BigInt(reader.fixed64())
      else if (tag === SPAN.end) endNanos = BigInt(reader.fixed64())
      else return false
      return true
    })
    if (!sieve.wantsSpan(name, encoded)) return []
    const attributes = sieve.attributes(encoded)
    return [{ kind: 'span', ...origin, attributes, name, traceId, spanId, parentSpanId, startNanos, endNanos }]
  }

  #metric(above: AboveMetric, record: Position, sieve: Sieve<Position>): Signal[] {
    let metric = ''
    let sum = NOTHING
    let points = 0
    this.#message(record, (tag, reader) => {
      if (tag === METRIC.name) metric = reader.string(true)
      else if (METRIC.kinds.includes(tag)) {
        const kind = this.#skip()
        // Points are the first field of every kind.
        points += this.#parts(kind, SUM.points).length
        if (tag === METRIC.sum) sum = kind
      } else return false
      return true
    })
    if (sieve.wantsMetric(metric)) return this.#points(above, metric, sum, points, sieve)
    sieve.ignorePoints(metric, points)
    return []
  }

  #points(
    { origin, resource }: AboveMetric,
    metric: string,
    sum: Position,
    all: number,
    sieve: Sieve<Position>,
  ): PointSignal[] {
    const points: Position[] = []
    let temporality: Temporality | undefined
    this.#message(sum, (tag, reader) => {
      if (tag === SUM.points) points.push(this.#skip())
      else if (tag === SUM.temporality) temporality = TEMPORALITIES[reader.int32() as 1 | 2]
      else return false
      return true
    })
    if (!sieve.takesSum(metric, { points: points.length, all }, temporality)) return []
    const known = { kind: 'point' as const, ...origin, metric, temporality }
    return points.flatMap((position) => {
      const { encoded, ...point } = this.#point(position)
      const { value, startNanos, timeNanos } = point
      if (!sieve.takesPoint(metric, value, point.ended)) return []
      const stream = sieve.stream(origin.scope, metric, resource, encoded)
      return [{ ...known, attributes: sieve.attributes(encoded), stream, startNanos, timeNanos, value }]
    })
  }

  #point(position: Position) {
    const encoded: EncodedAttribute<Position>[] = []
    let [startNanos, timeNanos, flags] = [0n, 0n, 0]
    let value: number | bigint | undefined
    this.#message(position, (tag, reader) => {
      if (tag === POINT.attributes) encoded.push(this.#attribute(this.#skip()))
      else if (tag === POINT.start) startNanos = BigInt(reader.fixed64())
      else if (tag === POINT.time) timeNanos = BigInt(reader.fixed64())
      else if (tag === POINT.double) value = reader.double()
      else if (tag === POINT.int) value = narrow(BigInt(reader.sfixed64()))
      else if (tag === POINT.flags) flags = reader.uint32()
      else return false
      return true
    })
    return { encoded, startNanos, timeNanos, value, ended: (flags & NO_RECORDED_VALUE) !== 0 }
  }

  #attributes(holder: Position, field: number): EncodedAttribute<Position>[] {
    return this.#parts(holder, field).map((position) => this.#attribute(position))
  }

  #attribute(position: Position): EncodedAttribute<Position> {
    let key = ''
    let value = NOTHING
    this.#message(position, (tag, reader) => {
      if (tag === ATTRIBUTE.key) key = reader.string(true)
      else if (tag === ATTRIBUTE.value) value = this.#skip()
      else return false
      return true
    })
    return { key, value }
  }

  #string(holder: Position, field: number): string {
    let text = ''
    this.#message(holder, (tag, reader) => {
      if (tag !== field) return false
      text = reader.string(true)
      return true
    })
    return text
  }

  /** Where the parts of a message are that have the tag. */
  #parts(holder: Position, wanted: number): Position[] {
    const positions: Position[] = []
    this.#message(holder, (tag) => {
      if (tag !== wanted) return false
      positions.push(this.#skip())
      return true
    })
    return positions
  }

  /** Where the part is of which there is one; of several the last counts. */
  #part(holder: Position, wanted: number): Position {
    return this.#parts(holder, wanted).at(-1) ?? NOTHING
  }

  /** Passes over a part, and answers where it was. */
  #skip(): Position {
    const position = this.#reader.pos
    this.#reader.skip(WireType.LengthDelimited)
    return position
  }

  /** Walks over the fields of a message and comes back to where it was. What `field` does not take is passed over. */
  #message(position: Position, field: (tag: number, reader: BinaryReader) => boolean): void {
    if (position === NOTHING) return
    const reader = this.#reader
    const before = reader.pos
    reader.pos = position
    const end = position === WHOLE ? reader.len : reader.uint32() + reader.pos
    while (reader.pos < end) {
      const [number, wire] = reader.tag()
      if (!field((number << 3) | wire, reader)) reader.skip(wire, number)
    }
    if (reader.pos !== end) throw new Malformed('A message of the body ends before or behind its length.')
    reader.pos = before
  }
}
