/** Decides which records of a body become signals, and counts the others. Both encodings ask the same sieve. */
import { addCount } from '../../../lib/counting.ts'
import { hashOf } from '../identity.ts'
import {
  type Attributes,
  type AttributeValue,
  type Counts,
  shownName,
  type Temporality,
  type Wanted,
} from '../signals.ts'

/** What a body holds of an attribute: where its value is, which is read only where it is wanted. */
export interface EncodedAttribute<Value> {
  key: string
  value: Value
}

/** How an encoding reads values. */
export interface ValueReader<Value> {
  read(value: Value): AttributeValue | undefined
  /** The same text for the same value in each encoding, arrays and maps included, and another for every other value. */
  canonical(value: Value): string
}

/** Names are shown to whoever looks for what is missing; a screen holds no more of them. */
const IGNORED_LIMIT = 50

export class Sieve<Value> {
  #records = 0
  #rejected = 0
  #rejectedBecause: string | null = null
  readonly #ignored = new Map<string, number>()

  constructor(
    readonly wanted: Wanted,
    readonly values: ValueReader<Value>,
  ) {}

  /** The name under which the log record is wanted, or undefined where it is not. */
  eventName(attributes: EncodedAttribute<Value>[], own: string, body: Value | undefined): string | undefined {
    this.#records += 1
    const attribute = attributes.find(({ key }) => key === 'event.name')
    const said = (attribute && asText(this.values.read(attribute.value))) || own
    const name = said || asText(body && this.values.read(body))
    if (this.wanted.log(name)) return name
    // A body that is no known name may be anything that somebody wrote.
    this.#ignore(said)
    return undefined
  }

  wantsMetric(name: string): boolean {
    return this.wanted.metric(name)
  }

  /** Data points of a metric that nobody reads. */
  ignorePoints(metric: string, points: number): void {
    this.#records += points
    this.#ignore(metric, points)
  }

  /** Whether the points of a metric's sum can be read, whatever each of them says. Those of other kinds cannot. */
  takesSum(
    metric: string,
    { points, all }: { points: number; all: number },
    temporality: Temporality | undefined,
  ): temporality is Temporality {
    this.#rejectPoints(all - points, `${metric} is not a sum.`)
    if (temporality !== undefined) return true
    this.#rejectPoints(points, `${metric} says neither that it is delta nor that it is cumulative.`)
    return false
  }

  /** Whether the point has a value; one without has none to lose where its series ended. */
  takesPoint(metric: string, value: number | bigint | undefined, ended: boolean): value is number | bigint {
    if (value === undefined && !ended) this.#rejectPoints(1, `A point of ${metric} has no value.`)
    else this.#records += 1
    return value !== undefined && !ended
  }

  wantsSpan(name: string, attributes: EncodedAttribute<Value>[]): boolean {
    this.#records += 1
    if (this.wanted.span(name, (attribute) => attributes.some(({ key }) => key === attribute))) return true
    this.#ignore(name)
    return false
  }

  attributes(encoded: EncodedAttribute<Value>[]): Attributes {
    return this.#keep(encoded, (name) => this.wanted.attribute(name))
  }

  resource(encoded: EncodedAttribute<Value>[]): Attributes {
    return this.#keep(encoded, (name) => this.wanted.resourceAttribute(name))
  }

  /** See `stream` of `PointSignal`. */
  stream(scope: string, metric: string, resource: EncodedAttribute<Value>[], point: EncodedAttribute<Value>[]): string {
    return hashOf([scope, metric, this.#canonical(resource), this.#canonical(point)])
  }

  counts(): Counts {
    const ignored = [...this.#ignored].sort(([, one], [, other]) => other - one).slice(0, IGNORED_LIMIT)
    return {
      records: this.#records,
      ignored: new Map(ignored),
      rejected: this.#rejected,
      rejectedBecause: this.#rejectedBecause,
    }
  }

  #keep(encoded: EncodedAttribute<Value>[], wanted: (name: string) => boolean): Attributes {
    const kept = new Map<string, AttributeValue>()
    for (const { key, value } of encoded) {
      if (!wanted(key)) continue
      const read = this.values.read(value)
      if (read !== undefined) kept.set(key, read)
    }
    return kept
  }

  #canonical(encoded: EncodedAttribute<Value>[]): string[] {
    return encoded.map(({ key, value }) => canonicalEntry(key, this.values.canonical(value))).sort()
  }

  #rejectPoints(points: number, because: string): void {
    if (points === 0) return
    this.#records += points
    this.#rejected += points
    this.#rejectedBecause ??= because
  }

  #ignore(name: string, records = 1): void {
    if (records > 0) addCount(this.#ignored, shownName(name), records)
  }
}

function asText(value: AttributeValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Parts of `canonical`. Numbers of both kinds are told apart by their first letter, as OTLP does; an absent value has no
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

/** Values in values. The protocol has no limit, but Protocol Buffers has: a hundred messages in each other. */
export const DEPTH_LIMIT = 50

/** Counts are numbers while a double holds them exactly. */
export function narrow(integer: bigint): number | bigint {
  const number = Number(integer)
  return Number.isSafeInteger(number) ? number : integer
}

/** The body is not what OTLP says; the message tells whoever wrote the exporter where. */
export class Malformed extends Error {}

export const TEMPORALITIES = { 1: 'delta', 2: 'cumulative' } as const

/** The bit of a data point's flags that says that it has no value: its series ended. */
export const NO_RECORDED_VALUE = 1
