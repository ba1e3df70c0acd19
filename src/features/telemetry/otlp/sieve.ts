/** Decides which records of a body become signals, and counts the others. Both encodings use it. */
import { addCount } from '../../../lib/counts.ts'
import { hashOf } from '../identity.ts'
import {
  type Attributes,
  type AttributeValue,
  type Counts,
  IGNORED_LIMIT,
  type SignalFilter,
  shownName,
  type Temporality,
} from '../signals.ts'

/** An attribute in a body: its value is decoded only if it is used. */
export interface EncodedAttribute<Value> {
  key: string
  value: Value
}

/** An encoding's access to values. */
export interface ValueReader<Value> {
  read(value: Value): AttributeValue | undefined
  /**
   * The same text for equal values in each encoding, including arrays and maps, and a different text for all other
   * values.
   */
  canonical(value: Value): string
}

/** Log records, metrics with their points, and spans of an export: six times the default batch of a Collector. */
const RECORDS_LIMIT = 50_000

/** Resources and scopes: one of each for every record of a Collector, and some more. */
const GROUPS_LIMIT = 20_000

/** Attributes of a record, or items of a value: the default limit of SDKs is 128. */
const FEW_LIMIT = 4_096

/** Longer than any name or count; prompts and answers may be longer, and are not read. */
export const TEXT_LIMIT_BYTES = 65_536

/** The length of all attributes of a resource or a metric's point, which identify streams. */
const STREAM_LIMIT = 262_144

const NOTE_SPLIT =
  'Reduce the batch size: send_batch_max_size of the Collector’s batch processor, or OTEL_BLRP_MAX_EXPORT_BATCH_SIZE or OTEL_BSP_MAX_EXPORT_BATCH_SIZE of the SDK.'

/** The body exceeds a limit; the message contains the limit and advice. */
export class TooMuch extends Error {}

export function tooMuchOf(limit: string): TooMuch {
  return new TooMuch(`The export has more than ${limit}. ${NOTE_SPLIT}`)
}

export function tooLongAttribute(): TooMuch {
  return new TooMuch(
    `The attributes that identify a metric’s stream exceed ${STREAM_LIMIT / 1_024} KiB. Remove long texts from the attributes of resources and metrics.`,
  )
}

export function requireFew(attributes: number): void {
  if (attributes <= FEW_LIMIT) return
  throw new TooMuch(
    `A record has more than ${FEW_LIMIT.toLocaleString('en')} attributes, or an attribute value has more than that many items.`,
  )
}

const NO_ATTRIBUTES: Attributes = new Map()

export class Sieve<Value> {
  #counted = 0
  #groups = 0
  #records = 0
  #rejected = 0
  #rejectionReason: string | null = null
  readonly #ignored = new Map<string, number>()
  #resource: { encoded: EncodedAttribute<Value>[]; canonical: string[] } | undefined

  constructor(
    readonly filter: SignalFilter,
    readonly values: ValueReader<Value>,
  ) {}

  /** Counts a record or a point before it is read. Throws {@link TooMuch}. */
  count(): void {
    this.#counted += 1
    if (this.#counted > RECORDS_LIMIT) throw tooMuchOf(`${RECORDS_LIMIT.toLocaleString('en')} records`)
  }

  /** Counts a resource or a scope in the same way. */
  countGroup(): void {
    this.#groups += 1
    if (this.#groups > GROUPS_LIMIT) throw tooMuchOf(`${GROUPS_LIMIT.toLocaleString('en')} resources and scopes`)
  }

  /** The event name of a log record that is read; undefined if it is ignored. */
  eventName(attributes: EncodedAttribute<Value>[], own: string, body: Value | undefined): string | undefined {
    this.#records += 1
    const attribute = attributes.find(({ key }) => key === 'event.name')
    const eventName = (attribute && asText(this.values.read(attribute.value))) || own
    const name = eventName || asText(body && this.values.read(body))
    if (this.filter.log(name)) return name
    // A body that is not a known name may be any text.
    this.#ignore(eventName)
    return undefined
  }

  readsMetric(name: string): boolean {
    return this.filter.metric(name)
  }

  /** Counts data points of a metric that is not read. */
  ignorePoints(metric: string, points: number): void {
    this.#records += points
    this.#ignore(metric, points)
  }

  /** Whether the points of a metric's sum can be read at all. Those of other kinds can't. */
  canReadSum(
    metric: string,
    { points, all }: { points: number; all: number },
    temporality: Temporality | undefined,
  ): temporality is Temporality {
    this.#rejectPoints(all - points, `${metric} is not a sum.`)
    if (temporality !== undefined) return true
    this.#rejectPoints(points, `${metric} has neither delta nor cumulative temporality.`)
    return false
  }

  /** Whether the point has a value; the end of a series has none, which is not an error. */
  canReadPoint(metric: string, value: number | bigint | undefined, ended: boolean): value is number | bigint {
    if (value === undefined && !ended) this.#rejectPoints(1, `A point of ${metric} has no value.`)
    else this.#records += 1
    return value !== undefined && !ended
  }

  wantsSpan(name: string, attributes: EncodedAttribute<Value>[]): boolean {
    this.#records += 1
    if (this.filter.span(name, (attribute) => attributes.some(({ key }) => key === attribute))) return true
    this.#ignore(name)
    return false
  }

  attributes(encoded: EncodedAttribute<Value>[]): Attributes {
    return this.#keep(encoded, (name) => this.filter.attribute(name))
  }

  resource(encoded: EncodedAttribute<Value>[]): Attributes {
    return this.#keep(encoded, (name) => this.filter.resourceAttribute(name))
  }

  /** See `stream` of `PointSignal`. Of all attributes: points that differ in one that nobody reads are of different streams. */
  stream(scope: string, metric: string, resource: EncodedAttribute<Value>[], point: EncodedAttribute<Value>[]): string {
    return hashOf([scope, metric, this.#canonicalResource(resource), this.#canonical(point)])
  }

  counts(): Counts {
    const ignored = [...this.#ignored].sort(([, one], [, other]) => other - one).slice(0, IGNORED_LIMIT)
    return {
      records: this.#records,
      ignored: new Map(ignored),
      rejected: this.#rejected,
      rejectionReason: this.#rejectionReason,
    }
  }

  #keep(encoded: EncodedAttribute<Value>[], wanted: (name: string) => boolean): Attributes {
    if (encoded.length === 0) return NO_ATTRIBUTES
    const kept = new Map<string, AttributeValue>()
    for (const { key, value } of encoded) {
      if (!wanted(key)) continue
      const read = this.values.read(value)
      if (read !== undefined) kept.set(key, read)
    }
    return kept
  }

  /** Once for all points of a resource, which may have many attributes. */
  #canonicalResource(encoded: EncodedAttribute<Value>[]): string[] {
    if (this.#resource?.encoded !== encoded) this.#resource = { encoded, canonical: this.#canonical(encoded) }
    return this.#resource.canonical
  }

  #canonical(encoded: EncodedAttribute<Value>[]): string[] {
    let length = 0
    const entries = encoded.map(({ key, value }) => {
      const entry = canonicalEntry(key, this.values.canonical(value))
      length += entry.length
      if (length > STREAM_LIMIT) throw tooLongAttribute()
      return entry
    })
    return entries.sort()
  }

  #rejectPoints(points: number, reason: string): void {
    if (points === 0) return
    this.#records += points
    this.#rejected += points
    this.#rejectionReason ??= reason
  }

  #ignore(name: string, records = 1): void {
    if (records > 0) addCount(this.#ignored, shownName(name), records)
  }
}

function asText(value: AttributeValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Parts of `canonical`. The first letter distinguishes the two kinds of numbers, as in OTLP; an absent value has no
 * text.
 */
export function canonicalScalar(value: AttributeValue, isDouble: boolean): string {
  return typeof value === 'string'
    ? JSON.stringify(value)
    : `${isDouble ? 'd' : typeof value === 'boolean' ? 'b' : 'i'}${value}`
}

export function canonicalEntry(key: string, value: string): string {
  return `${JSON.stringify(key)}:${value}`
}

/** The nesting depth of values. The protocol has no limit, but Protocol Buffers has: a hundred nested messages. */
export const DEPTH_LIMIT = 50

/** Counts are numbers as long as a double is exact. */
export function narrow(integer: bigint): number | bigint {
  const number = Number(integer)
  return Number.isSafeInteger(number) ? number : integer
}

/** The body is not valid OTLP; the message contains the position. */
export class Malformed extends Error {}

export const TEMPORALITIES = { 1: 'delta', 2: 'cumulative' } as const

/** The flag of a data point without a value: its series has ended. */
export const NO_RECORDED_VALUE = 1
