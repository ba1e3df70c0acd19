/**
 * What is left of an OTLP body after decoding: the records that a channel wants, with the attributes that it wants, and
 * nothing else. Prompts, answers, paths and host names end at this border, for a signal has no place to hold them.
 */

/** Integers beyond 2^53 are bigint, so that no count is rounded. Arrays, maps and bytes are left out: nobody reads them. */
export type AttributeValue = string | number | bigint | boolean

export type Attributes = ReadonlyMap<string, AttributeValue>

/** What stands above a record. */
export interface Origin {
  resource: Attributes
  /** Of the instrumentation that made it; empty where it has no name. */
  scope: string
}

export interface LogSignal extends Origin {
  kind: 'log'
  attributes: Attributes
  /**
   * The attribute `event.name`, else the record's own event name, else its body where that is a string that `wanted.log`
   * knows, else empty. The attribute comes first: Codex fills the record's own name with the line of its source.
   */
  eventName: string
  /** When it happened, else when it was seen, else 0n: Codex leaves both out and has an attribute instead. */
  timeNanos: bigint
}

/** Whether points say what came since the one before, or since the start. */
export type Temporality = 'delta' | 'cumulative'

/** A data point of a sum; other kinds of metrics hold no counts that could be billed. */
export interface PointSignal extends Origin {
  kind: 'point'
  attributes: Attributes
  metric: string
  /**
   * Which stream the point is of: 32 hexadecimal digits of a hash over the scope's name, the metric's, and every
   * attribute of the resource and of the point, whether it is kept or not and whatever their order and the encoding.
   * Two streams that differ only in an attribute that nobody reads are two.
   */
  stream: string
  temporality: Temporality
  startNanos: bigint
  timeNanos: bigint
  value: number | bigint
}

export interface SpanSignal extends Origin {
  kind: 'span'
  attributes: Attributes
  name: string
  /** Lower-case hexadecimal, however it was sent; empty where it was not. */
  traceId: string
  spanId: string
  parentSpanId: string
  startNanos: bigint
  endNanos: bigint
}

export type Signal = LogSignal | PointSignal | SpanSignal

/** What the channels read; all else is skipped unread. */
export interface Wanted {
  log(eventName: string): boolean
  metric(name: string): boolean
  /** A span may be known by its name or by what it carries: `has` says whether it has an attribute of that name. */
  span(name: string, has: (attributeName: string) => boolean): boolean
  /** Whether attributes of that name are kept on logs, points and spans. */
  attribute(name: string): boolean
  /** Whether attributes of that name are kept on resources; every name of a resource is asked for. */
  resourceAttribute(name: string): boolean
}

export interface Counts {
  /** Log records, data points and spans in the body, wanted or not. */
  records: number
  /**
   * How many records of each event, metric or span were skipped because no channel reads them, for `tally telemetry
   * status`: the 50 most frequent names of the body, as `shownName` shows them.
   */
  ignored: Map<string, number>
  /** Records that were wanted and could not be decoded. */
  rejected: number
  /** Why the first of them was; null where none was. */
  rejectedBecause: string | null
}

/** As long as names of events and metrics get. */
const NAME_LIMIT = 100

/** The first word of a name: `chat` of `chat gpt-5`. What follows may be a path, or what somebody wrote. */
const FIRST_WORD = /^[A-Za-z][\w.:-]*/

/** The name of an event, metric or span as people may be shown it. */
export function shownName(name: string): string {
  return FIRST_WORD.exec(name)?.[0].slice(0, NAME_LIMIT) ?? '(invalid name)'
}
