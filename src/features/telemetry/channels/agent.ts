/** What a reader of one agent is made of. The next agent is a file beside this one, a line in `index.ts`, a fixture. */
import type { LogSignal, SpanSignal } from '../signals.ts'
import type { Fields } from './fields.ts'
import type { Part, Parts } from './observation.ts'

/** One model call, as reported by its agent. */
export interface Call {
  session: string
  model: string
  provider?: string | undefined
  parts: Parts
  /** Undefined where the agent does not say what it cost. */
  costNanos?: bigint | undefined
  /** What makes it this call and no other within its session. */
  identity: readonly unknown[]
  /** See `RequestUsage`. */
  claims?: readonly (readonly unknown[])[]
  repeats?: readonly (readonly unknown[])[]
  startedAt: number | null
  endedAt: number | null
}

/** What a data point counts. */
export interface PointCount {
  session: string
  model: string
  provider?: string | undefined
  part: Part | 'cost'
}

/** Undefined if the record contains no usage. Throws `Unusable` if it should but cannot be counted. */
export type LogReader = (fields: Fields, log: LogSignal) => Call | undefined
export type PointReader = (fields: Fields) => PointCount

export interface SpanReader {
  /** Whether such spans are to be read at all, by the name, or by the attributes that they have. */
  wants(name: string, has: (attribute: string) => boolean): boolean
  read(fields: Fields, span: SpanSignal): Call | undefined
}

export interface Agent {
  harness: string | ((fields: Fields, scope: string) => string)
  /** The names of services that are this agent: what general conventions tell of them is the same usage once more. */
  services?: RegExp
  /** The attribute that holds its version; `service.version` where it says nothing else, null where none does. */
  version?: string | null
  /** Attributes of records that the readers look at; all others are dropped unread. */
  attributes: readonly string[]
  /** Attributes of the resource that it sets itself, so that they are nobody's labels. */
  own?: Readonly<Record<string, string>>
  logs?: Readonly<Record<string, LogReader>>
  metrics?: Readonly<Record<string, PointReader>>
  spans?: SpanReader
  /** Events and metrics that look as if they counted, and why they do not. */
  uncounted?: Readonly<Record<string, string>>
}
