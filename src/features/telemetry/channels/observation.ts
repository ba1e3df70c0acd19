/** Usage reported on a channel: the only data that passes from the decoding thread to the database. */
import type { LabelMap } from '../../../database/schema/records.ts'
import type { SessionSource } from '../../../database/schema/values.ts'
import type { Service } from '../../../shared/usage.ts'

export type TelemetrySource = Exclude<SessionSource, 'report'>

/**
 * The counts as agents send them. `inputSide` is an input that includes cache reads and writes; the disjoint input is
 * known only when all of a session's counts have arrived, since metrics send each as a separate point.
 */
export const PARTS = ['input', 'inputSide', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const
export type Part = (typeof PARTS)[number]
export type Parts = Record<Part, number>

/** A model call, from a log record or a span. An identity counts only once in a session and source. */
export interface RequestUsage {
  kind: 'request'
  identity: string
  /** Of any session: the call was already counted if one of `repeats` is known; counting it makes `claims` known. */
  repeats: readonly string[]
  claims: readonly string[]
  parts: Parts
  /** The cost reported by the agent; null if it reports none. */
  costNanos: bigint | null
}

/** A data point of a sum: of a count, or of the cost in nano-dollars. */
export interface PointUsage {
  kind: 'delta' | 'cumulative'
  /**
   * Identifies the stream, including its start if it is cumulative: a later point of the same stream replaces the
   * previous one, points of other streams are added.
   */
  stream: string
  timeNanos: bigint
  part: Part | 'cost'
  value: bigint
}

/** What identifies the other spans of a request that report the same call. */
export interface SpanLink {
  traceId: string
  spanId: string
  parentSpanId: string
  scope: string
  response: string | null
  process: string
  namesSession: boolean
  hasOutput: boolean
  /** Names of counts that are not certain. */
  uncertain: readonly string[]
}

export interface Observation {
  /** The channel's name in `tally telemetry status`, such as `claude_code.api_request`. */
  channel: string
  source: TelemetrySource
  harness: string
  version: string | null
  agent: string
  session: string
  model: string
  provider: string | null
  /** Null if it is the standard one. */
  service: Service | null
  project: string | null
  ticket: string | null
  labels: LabelMap | null
  /** The person's address as sent by the agent, in lower case. */
  email: string | null
  /** Milliseconds; null if the agent sends no time, in which case the time of arrival counts. */
  startedAt: number | null
  endedAt: number | null
  usage: RequestUsage | PointUsage
  /** Only until all observations of a request are read. */
  link?: SpanLink
}
