/**
 * How a route describes itself for the OpenAPI document. What the route already says is not said again: its method,
 * path, `query`, `params`, `body` and `allow` are read from it by `http/openapi.ts`.
 *
 * Schemas of responses live only here. Elysia must not check responses against them: money is a `JSON.rawJSON` object
 * there, and an answer that does not fit after a commit would become a 422. The tests check every response instead.
 */
import type { TSchema } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import type { ProblemCode } from '../errors.ts'

/** Groups of operations, in the order in which the document shows them. */
export const TAGS = {
  'Token entries': 'What agent sessions used: reporting it, reading it.',
  Work: 'What entries are placed on: clients, their projects, and the tickets of these.',
  Approval: 'Who answers for what: approving and rejecting entries, and what waits for that.',
  'Token sheets': 'Entries that people make by hand, submitted and approved as a whole.',
  Bills: 'From use to a numbered document: previewing, sending, voiding, paying, correcting.',
  Reports: 'Questions about use and money, and about what is missing of either.',
  Telemetry: 'OpenTelemetry data (OTLP over HTTP) of agents that send it by themselves.',
  'Placement rules': 'What finds the project and the ticket of entries that name none.',
  Prices: 'What tokens of models cost: the table, how a price is found, loading and setting prices.',
  People: 'Who is calling, signing in and out, passwords, the first-run set-up, and who else is here.',
  Tokens: 'What agents and programs call with: making, listing and revoking tokens.',
  Organization: 'Its settings, and the trail of every change.',
  Service: 'Whether Tally runs, and how to call it.',
} as const

/** Headers that responses may name. `X-Request-Id` is on every response, `Retry-After` on every 429 and 503. */
export const RESPONSE_HEADERS = {
  Location: 'Path of what was made.',
  'Idempotent-Replayed':
    '`true` where the Idempotency-Key was used before with the same body: this is the first entry again.',
  ETag: 'Version of the content; send it back in If-None-Match.',
  'Set-Cookie': 'The session of the signed-in person, or that it is to be forgotten.',
  'X-Request-Id': 'The id of this call in the log: the one sent, where it was plain and short, else a new one.',
  'Retry-After': 'Seconds after which to try again.',
  'WWW-Authenticate': 'The scheme to authenticate with: Bearer.',
} as const

/** Headers that requests may name. `X-Request-Id` may be sent with every call. */
export const REQUEST_HEADERS = {
  'Idempotency-Key':
    'Stands for this one report, for as long as Tally exists: sent again with the same body it answers the first entry, with another body it is refused.',
  'X-Request-Id': 'An id of your own for this call, up to 128 of A-Z a-z 0-9 . _ : / -',
} as const

export interface Content {
  schema?: TSchema
  example?: unknown
  /** Several, each under a short name. */
  examples?: Record<string, { summary: string; value: unknown }>
}

/** `application/json`, and by content type what else there is. */
export interface Contents extends Content {
  also?: Record<string, Content>
}

export interface DocumentedResponse extends Contents {
  description: string
  headers?: (keyof typeof RESPONSE_HEADERS)[]
}

export interface Documentation {
  /** Unique; what generated clients call the operation. */
  id: string
  tag: keyof typeof TAGS
  /** A few words, as in a table of contents. */
  summary: string
  /** Markdown. */
  description?: string
  /** What the parameters in the path are, where the route has no schema for them. */
  path?: Record<string, string>
  /** Only what the route's `body` does not say: examples, further content types, a schema finer than the check. */
  body?: Contents
  headers?: Exclude<keyof typeof REQUEST_HEADERS, 'X-Request-Id'>[]
  /** Whether refusals are a `google.rpc.Status` instead of a problem, and what is invalid a 400: see `http/otlp.ts`. */
  otlp?: true
  /** Successes by status. A `text/csv` beside the JSON is `also: { 'text/csv': {} }`; no schema is no content. */
  responses: Record<number, DocumentedResponse>
  /**
   * Only what is particular to the route. `unauthenticated`, `forbidden`, the problems of bodies and parameters,
   * `not_found` where the path has a parameter, a busy or full database and `internal_error` follow from the route.
   */
  problems?: ProblemCode[]
}

/**
 * For a route's `detail`:
 *
 * ```ts
 * .post('/token-entries', handler, {
 *   allow: ['service'],
 *   parse: 'report',
 *   body: TokenEntryReport,
 *   detail: documented({
 *     id: 'reportTokenEntry',
 *     tag: 'Token entries',
 *     summary: 'Report one token entry',
 *     headers: ['Idempotency-Key'],
 *     body: { example: { agent_harness: 'codex', … } },
 *     responses: {
 *       201: { description: 'The entry was made.', schema: TokenEntry, headers: ['Location'], example },
 *       200: { description: 'It was reported before.', schema: TokenEntry, headers: ['Idempotent-Replayed'] },
 *     },
 *     problems: ['session_shrunk', 'idempotency_key_reused'],
 *   }),
 * })
 * ```
 *
 * Schemas with an `$id` become components of that name; parameters of a query are made by `http/query.ts`.
 */
export function documented(documentation: Documentation): DocumentDecoration {
  return { documentation } as unknown as DocumentDecoration
}
