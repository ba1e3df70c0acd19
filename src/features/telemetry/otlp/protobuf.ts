/**
 * Reads OTLP as Protocol Buffers by walking over the bytes: in a megabyte of traces a single record may count, and
 * decoding whole messages would create objects for all others. The field numbers are from
 * https://github.com/open-telemetry/opentelemetry-proto/tree/main/opentelemetry/proto
 *
 * Fields may come in any order, so a record's resource and scope are read before the record: until then a part is
 * represented by its position in the bytes.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
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

/** The position of a part in the bytes, with its length. 0 is the whole body: parts are always preceded by a tag. */
type Position = number
const WHOLE: Position = 0
/** The position of an absent part. */
const NOTHING: Position = -1

const sized = (field: number) => (field << 3) | WireType.LengthDelimited
const fixed64 = (field: number) => (field << 3) | WireType.Bit64
const varint = (field: number) => (field << 3) | WireType.Varint

type Take = (signal: Signal) => void

/** Reads a record. `resource` includes attributes that are not kept, because they distinguish streams. */
type ReadRecord = (record: Position, origin: Origin, resource: EncodedAttribute<Position>[]) => void

/** The same field numbers in requests, resources and scopes of all three signals. */
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

const ID_LIMIT_BYTES = 64

const NO_ATTRIBUTES: EncodedAttribute<Position>[] = []

/** A metric with a sum that is read; `all` also counts the points of other kinds. */
interface WantedMetric {
  origin: Origin
  resource: EncodedAttribute<Position>[]
  metric: string
  sum: Position
  all: number
}

export class ProtobufBody implements ValueReader<Position> {
  readonly #reader: BinaryReader

  constructor(bytes: Uint8Array) {
    this.#reader = new BinaryReader(bytes)
  }

  logs(sieve: Sieve<Position>, take: Take): void {
    this.#records(sieve, (record, origin) => this.#log(origin, record, sieve, take))
  }

  points(sieve: Sieve<Position>, take: Take): void {
    this.#records(sieve, (record, origin, resource) => this.#metric(origin, resource, record, sieve, take))
  }

  spans(sieve: Sieve<Position>, take: Take): void {
    this.#records(sieve, (record, origin) => this.#span(origin, record, sieve, take))
  }

  /** Of attributes and of the bodies of log records. Also undefined if the value is too long for a name or count. */
  read(position: Position): AttributeValue | undefined {
    let value: AttributeValue | undefined
    this.#message(position, (tag, reader) => {
      if (tag === VALUE.string) value = this.#text()
      else if (tag === VALUE.bool) value = reader.bool()
      else if (tag === VALUE.int) value = narrow(BigInt(reader.int64()))
      else if (tag === VALUE.double) value = reader.double()
      else return false
      return true
    })
    return value
  }

  canonical(position: Position, depth = 0): string {
    if (depth > DEPTH_LIMIT) throw new Malformed('An attribute value is nested too deeply.')
    const scalar = this.read(position)
    let text = ''
    this.#message(position, (tag, reader) => {
      if (tag === VALUE.string && scalar === undefined) throw tooLongAttribute()
      if (tag === VALUE.array) {
        text = `[${this.#few(this.#skip(), VALUES).map((item) => this.canonical(item, depth + 1))}]`
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

  /** All records of the body, with their resource and scope. */
  #records(sieve: Sieve<Position>, read: ReadRecord): void {
    this.#each(WHOLE, RESOURCES, (group) => {
      sieve.countGroup()
      const resource = this.#attributes(this.#part(group, RESOURCE), RESOURCE_ATTRIBUTES)
      const kept = sieve.resource(resource)
      this.#each(group, SCOPES, (scoped) => {
        sieve.countGroup()
        const origin: Origin = { resource: kept, scope: this.#string(this.#part(scoped, SCOPE), SCOPE_NAME) }
        this.#each(scoped, RECORDS, (record) => {
          sieve.count()
          read(record, origin, resource)
        })
      })
    })
  }

  #log(origin: Origin, record: Position, sieve: Sieve<Position>, take: Take): void {
    const encoded: EncodedAttribute<Position>[] = []
    let [time, observed, own] = [0n, 0n, '']
    let body: Position | undefined
    this.#message(record, (tag, reader) => {
      if (tag === LOG.attributes) this.#addAttribute(encoded)
      else if (tag === LOG.time) time = BigInt(reader.fixed64())
      else if (tag === LOG.observed) observed = BigInt(reader.fixed64())
      else if (tag === LOG.body) body = this.#skip()
      else if (tag === LOG.eventName) own = this.#text() ?? ''
      else return false
      return true
    })
    const eventName = sieve.eventName(encoded, own, body)
    if (eventName === undefined) return
    take({ kind: 'log', ...origin, attributes: sieve.attributes(encoded), eventName, timeNanos: time || observed })
  }

  #span(origin: Origin, record: Position, sieve: Sieve<Position>, take: Take): void {
    const encoded: EncodedAttribute<Position>[] = []
    let [name, traceId, spanId, parentSpanId, startNanos, endNanos] = ['', '', '', '', 0n, 0n]
    this.#message(record, (tag, reader) => {
      if (tag === SPAN.attributes) this.#addAttribute(encoded)
      else if (tag === SPAN.name) name = this.#text() ?? ''
      else if (tag === SPAN.traceId) traceId = this.#id()
      else if (tag === SPAN.spanId) spanId = this.#id()
      else if (tag === SPAN.parentSpanId) parentSpanId = this.#id()
      else if (tag === SPAN.start) startNanos = BigInt(reader.fixed64())
      else if (tag === SPAN.end) endNanos = BigInt(reader.fixed64())
      else return false
      return true
    })
    if (!sieve.wantsSpan(name, encoded)) return
    const attributes = sieve.attributes(encoded)
    take({ kind: 'span', ...origin, attributes, name, traceId, spanId, parentSpanId, startNanos, endNanos })
  }

  #metric(
    origin: Origin,
    resource: EncodedAttribute<Position>[],
    record: Position,
    sieve: Sieve<Position>,
    take: Take,
  ): void {
    let metric = ''
    let sum = NOTHING
    let all = 0
    this.#message(record, (tag) => {
      if (tag === METRIC.name) metric = this.#text() ?? ''
      else if (METRIC.kinds.includes(tag)) {
        const kind = this.#skip()
        // Points are the first field of every kind.
        this.#each(kind, SUM.points, () => {
          sieve.count()
          all += 1
        })
        if (tag === METRIC.sum) sum = kind
      } else return false
      return true
    })
    if (sieve.readsMetric(metric)) this.#points({ origin, resource, metric, sum, all }, sieve, take)
    else sieve.ignorePoints(metric, all)
  }

  #points({ origin, resource, metric, sum, all }: WantedMetric, sieve: Sieve<Position>, take: Take): void {
    let points = 0
    let temporality: Temporality | undefined
    this.#message(sum, (tag, reader) => {
      if (tag === SUM.points) {
        points += 1
        this.#skip()
      } else if (tag === SUM.temporality) temporality = TEMPORALITIES[reader.int32() as 1 | 2]
      else return false
      return true
    })
    if (!sieve.canReadSum(metric, { points, all }, temporality)) return
    const known = { kind: 'point' as const, ...origin, metric, temporality }
    this.#each(sum, SUM.points, (position) => {
      const { encoded, value, ended, ...times } = this.#point(position)
      if (!sieve.canReadPoint(metric, value, ended)) return
      const stream = sieve.stream(origin.scope, metric, resource, encoded)
      take({ ...known, attributes: sieve.attributes(encoded), stream, ...times, value })
    })
  }

  #point(position: Position) {
    const encoded: EncodedAttribute<Position>[] = []
    let [startNanos, timeNanos, flags] = [0n, 0n, 0]
    let value: number | bigint | undefined
    this.#message(position, (tag, reader) => {
      if (tag === POINT.attributes) this.#addAttribute(encoded)
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
    return holder === NOTHING ? NO_ATTRIBUTES : this.#few(holder, field).map((position) => this.#attribute(position))
  }

  /** Adds the next attribute. */
  #addAttribute(encoded: EncodedAttribute<Position>[]): void {
    encoded.push(this.#attribute(this.#skip()))
    requireFew(encoded.length)
  }

  #attribute(position: Position): EncodedAttribute<Position> {
    let key = ''
    let value = NOTHING
    this.#message(position, (tag) => {
      if (tag === ATTRIBUTE.key) key = this.#text() ?? ''
      else if (tag === ATTRIBUTE.value) value = this.#skip()
      else return false
      return true
    })
    return { key, value }
  }

  #string(holder: Position, field: number): string {
    let text: string | undefined
    this.#message(holder, (tag) => {
      if (tag !== field) return false
      text = this.#text()
      return true
    })
    return text ?? ''
  }

  /** The next string. Undefined if it is longer than all texts that are read. */
  #text(): string | undefined {
    const reader = this.#reader
    const start = reader.pos
    if (reader.uint32() > TEXT_LIMIT_BYTES) {
      reader.pos = start
      this.#skip()
      return undefined
    }
    reader.pos = start
    return reader.string(true)
  }

  /** Ids have 8 or 16 bytes; longer ones are invalid. */
  #id(): string {
    const bytes = this.#reader.bytes()
    return bytes.length > ID_LIMIT_BYTES ? '' : bytes.toHex()
  }

  /** The positions of a message's parts with the tag, of which there may be only a few. */
  #few(holder: Position, wanted: number): Position[] {
    const positions: Position[] = []
    this.#each(holder, wanted, (position) => {
      positions.push(position)
      requireFew(positions.length)
    })
    return positions
  }

  /** Reads each part of a message with the tag, without collecting them. */
  #each(holder: Position, wanted: number, read: (position: Position) => void): void {
    this.#message(holder, (tag) => {
      if (tag !== wanted) return false
      read(this.#skip())
      return true
    })
  }

  /** The position of a part that exists once; of several, the last one counts. */
  #part(holder: Position, wanted: number): Position {
    let part = NOTHING
    this.#each(holder, wanted, (position) => {
      part = position
    })
    return part
  }

  /** Skips a part, and returns its position. */
  #skip(): Position {
    const position = this.#reader.pos
    this.#pass(WireType.LengthDelimited, 0)
    return position
  }

  /** Skips a field. The reader's own `skip` would create a view for each of millions of fields. */
  #pass(wire: WireType, field: number): void {
    const reader = this.#reader
    if (wire === WireType.LengthDelimited) {
      const bytes = reader.uint32()
      reader.pos += bytes
    } else if (wire === WireType.Varint) reader.uint32()
    else if (wire === WireType.Bit64) reader.pos += 8
    else if (wire === WireType.Bit32) reader.pos += 4
    else reader.skip(wire, field)
    if (reader.pos > reader.len) throw new RangeError('A field is longer than the body.')
  }

  /**
   * Walks over the fields of a message and returns to the current position. Skips fields that `field` does not read.
   */
  #message(position: Position, field: (tag: number, reader: BinaryReader) => boolean): void {
    if (position === NOTHING) return
    const reader = this.#reader
    const before = reader.pos
    reader.pos = position
    const end = position === WHOLE ? reader.len : reader.uint32() + reader.pos
    while (reader.pos < end) {
      // Like `tag()`, without creating a pair for each of millions of fields.
      const tag = reader.uint32()
      const wire = tag & 7
      if (tag >>> 3 === 0 || wire > WireType.Bit32) throw new RangeError('A field has an invalid tag.')
      if (!field(tag, reader)) this.#pass(wire, tag >>> 3)
    }
    if (reader.pos !== end) throw new Malformed('A message in the body does not match its declared length.')
    reader.pos = before
  }
}
