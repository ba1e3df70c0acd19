/**
 * A decoded OTLP body: only the records that a channel reads, with only the attributes that it uses. Prompts, answers,
 * paths and host names stop here, because a signal has no field for them.
 */

/**
 * Integers beyond 2^53 are bigint, so that no count is rounded. Arrays, maps and bytes are omitted: nothing reads them.
 */
export type AttributeValue = string | number | bigint | boolean

export type Attributes = ReadonlyMap<string, AttributeValue>

/** The resource and scope of a record. */
export interface Origin {
  resource: Attributes
  /** The name of the instrumentation scope; empty if it has none. */
  scope: string
}

export interface LogSignal extends Origin {
  kind: 'log'
  attributes: Attributes
  /**
   * The attribute `event.name`, otherwise the record's own event name, otherwise its body if that is a string that
   * `SignalFilter.log` accepts, otherwise empty. The attribute comes first: Codex sets the record's own name to a position in
   * its source.
   */
  eventName: string
  /**
   * The time of the event, otherwise the time it was observed, otherwise 0n: Codex sends neither and has an attribute
   * instead.
   */
  timeNanos: bigint
}

/** Whether points contain the change since the previous point, or since the start. */
export type Temporality = 'delta' | 'cumulative'

/** A data point of a sum; other kinds of metrics contain no billable counts. */
export interface PointSignal extends Origin {
  kind: 'point'
  attributes: Attributes
  metric: string
  /**
   * Identifies the stream of the point: 32 hexadecimal digits of a hash over the names of the scope and the metric and
   * all attributes of the resource and the point, kept or not, independent of their order and the encoding. Streams
   * that differ only in an unused attribute are different.
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
  /** Lower-case hexadecimal in every encoding; empty if it is absent. */
  traceId: string
  spanId: string
  parentSpanId: string
  startNanos: bigint
  endNanos: bigint
}

export type Signal = LogSignal | PointSignal | SpanSignal

/** The records and attributes that the channels read; all others are skipped. */
export interface SignalFilter {
  log(eventName: string): boolean
  metric(name: string): boolean
  /** A span may be recognized by its name or its attributes: `has` returns whether it has an attribute. */
  span(name: string, has: (attributeName: string) => boolean): boolean
  /** Whether attributes with this name are kept on logs, points and spans. */
  attribute(name: string): boolean
  /** Whether attributes with this name are kept on resources; called for every name of a resource. */
  resourceAttribute(name: string): boolean
}

export interface Counts {
  /** Log records, data points and spans in the body, read or not. */
  records: number
  /**
   * How many records of each event, metric or span were skipped because no channel reads them, for `tally telemetry
   * status`: the 50 most frequent names of the body, as `shownName` shows them.
   */
  ignored: Map<string, number>
  /** Records that channels read and that could not be decoded. */
  rejected: number
  /** The reason for the first of them; null if there are none. */
  rejectionReason: string | null
}

/** Names are shown to people who look for missing usage; more would not fit on a screen. */
export const IGNORED_LIMIT = 50

/** The maximum length of event and metric names. */
const NAME_LIMIT = 100

/** The first word of a name: `chat` of `chat gpt-5`. The rest may be a path or private text. */
const FIRST_WORD = /^[A-Za-z][\w.:-]*/

/** The name of an event, metric or span in a form that can be shown to people. */
export function shownName(name: string): string {
  return FIRST_WORD.exec(name)?.[0].slice(0, NAME_LIMIT) ?? '(invalid name)'
}
