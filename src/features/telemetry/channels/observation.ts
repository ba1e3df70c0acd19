/** What a channel says that an agent used: all that goes from the decoding thread into the database. */
import type { LabelMap } from '../../../database/schema/records.ts'
import type { SessionSource } from '../../../database/schema/values.ts'

export type TelemetrySource = Exclude<SessionSource, 'report'>

/**
 * The counts as agents send them. `inputSide` is an input that includes what was read from and written to the cache;
 * the disjoint input is known only once all of a session's counts are there, as metrics send each as a point of its own.
 */
export const PARTS = ['input', 'inputSide', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const
export type Part = (typeof PARTS)[number]
export type Parts = Record<Part, number>

/** One model call, from a log record or a span. The same identity counts once in a session and source. */
export interface RequestUsage {
  kind: 'request'
  identity: string
  /** Identities that, seen before, say as well that this call is counted; and that it says so of in its turn. */
  repeats: readonly string[]
  claims: readonly string[]
  parts: Parts
  /** What the agent says it cost; null where it does not say. */
  costNanos: bigint | null
}

/** A data point of a sum: of one count, or of the cost in nano-dollars. */
export interface PointUsage {
  kind: 'delta' | 'cumulative'
  /** Of the stream, with its start where it is cumulative: a later point of it replaces, one of another adds. */
  stream: string
  timeNanos: bigint
  part: Part | 'cost'
  value: bigint
}

export interface Observation {
  /** How `tally telemetry status` names the channel, such as `claude_code.api_request`. */
  channel: string
  source: TelemetrySource
  harness: string
  version: string | null
  agent: string
  session: string
  model: string
  provider: string | null
  project: string | null
  ticket: string | null
  labels: LabelMap | null
  /** Of the person, as the agent says; in lower case. */
  email: string | null
  /** Milliseconds; null where the agent says no time, and the moment of arrival counts. */
  startedAt: number | null
  endedAt: number | null
  usage: RequestUsage | PointUsage
}
