/**
 * The interface of an agent's reader. To add an agent, add a file here with every attribute that it reads, since all others
 * are dropped, prompts among them; a line in `index.ts`; and a capture of the real agent in `test/fixtures`, with the
 * correct counts in its `expected.json`. Then let `scripts/agents/try` check that everything is counted.
 */
import type { Service } from '../../../shared/usage.ts'
import type { LogSignal, SpanSignal } from '../signals.ts'
import type { Fields } from './fields.ts'
import type { Part, Parts, SpanLink } from './observation.ts'

/** One model call, as reported by its agent. */
export interface Call {
  session: string
  model: string
  provider?: string | undefined
  service?: Partial<Service>
  parts: Parts
  /** Undefined if the agent does not report a cost. */
  costNanos?: bigint | undefined
  /** Values that identify the call within its session. */
  identity: readonly unknown[]
  /** See `RequestUsage`. */
  claims?: readonly (readonly unknown[])[]
  repeats?: readonly (readonly unknown[])[]
  link?: SpanLink
  startedAt: number | null
  endedAt: number | null
}

/** The data of one data point. */
export interface PointCount {
  session: string
  model: string
  provider?: string | undefined
  service?: Partial<Service>
  part: Part | 'cost'
}

/** Undefined if the record contains no usage. Throws `Unusable` if it should but cannot be counted. */
export type LogReader = (fields: Fields, log: LogSignal) => Call | undefined
export type PointReader = (fields: Fields) => PointCount

export interface SpanReader {
  /** Whether such spans are read at all, by their name or attributes. */
  matches(name: string, has: (attribute: string) => boolean): boolean
  read(fields: Fields, span: SpanSignal): Call | undefined
}

export interface Agent {
  harness: string | ((fields: Fields, scope: string) => string)
  /** The service names of this agent: records of general conventions from these repeat its own. */
  services?: RegExp
  /** The attribute with its version; by default `service.version`, null if there is none. */
  version?: string | null
  /** Attributes of records that the readers use; all others are dropped unread. */
  attributes: readonly string[]
  /** Resource attributes that the agent sets itself, which are not labels. */
  own?: Readonly<Record<string, string>>
  logs?: Readonly<Record<string, LogReader>>
  metrics?: Readonly<Record<string, PointReader>>
  spans?: SpanReader
  /** Events and metrics that look like usage, and why they are not counted. */
  uncounted?: Readonly<Record<string, string>>
}
