/**
 * Route documentation for the OpenAPI document. Everything the route already declares is not repeated:
 * `http/openapi-document.ts` reads its method, path, `query`, `params`, `body` and `allow` from it.
 *
 * Schemas of responses are defined only here. Elysia must not check responses against them: money is a `JSON.rawJSON`
 * object there, and a mismatch after a commit would turn the response into a 422. The tests check every response
 * instead.
 */
import { type TSchema, Type } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import type { ProblemCode } from '../errors.ts'

/** Groups of operations, in the order of the document. */
export const TAGS = {
  'Token entries': 'Usage of agent sessions: report it and read it.',
  Work: 'Clients, projects and tickets, to which entries are assigned.',
  Approval: 'Approve and reject entries, and list those awaiting approval.',
  'Token sheets': 'Collections of manual entries that are submitted and approved as a whole.',
  Bills: 'Numbered statements of usage: preview, send, mark as paid, void and correct them.',
  Search: 'One search over everything.',
  Reports: 'Usage and cost reports, including missing data.',
  Budgets: 'How much may be spent on something in a period, and who is warned.',
  Plans: 'What people pay for agents in addition to API prices: terms, periods and people.',
  'Share links': 'Links that show one report or bill to those without an account.',
  Webhooks: 'Endpoints that are sent events.',
  Viewers: 'What clients and stakeholders with an account of their own see.',
  Events: 'What happened, for programs that follow it.',
  Agents: 'What Tally could not read of the sessions on people’s machines.',
  Telemetry: 'OpenTelemetry data (OTLP over HTTP) pushed by agents.',
  'Placement rules': 'Rules that assign a project and a ticket to entries whose report names neither.',
  Prices: 'Model prices: list them, explain how one is found, load price tables and set prices by hand.',
  People: 'People, sign-in and sign-out, passwords, and first-run setup.',
  Tokens: 'Credentials of agents and programs: create, list and revoke tokens.',
  Organization: 'Organization settings and the audit log.',
  Service: 'Health checks and the API description.',
} as const

/** A header's value: a text, if nothing else is said. */
interface Header {
  description: string
  type?: 'integer'
  format?: string
  enum?: string[]
  pattern?: string
  minimum?: number
}

const REQUEST_ID_PATTERN = '^[A-Za-z0-9._:/-]{1,128}$'

/** Headers that responses may name. `X-Request-Id` is on every response, `Retry-After` on every 429 and 503. */
export const RESPONSE_HEADERS = {
  Location: { description: 'Path of the new resource.', format: 'uri-reference' },
  'Idempotent-Replayed': {
    description: '`true` if the Idempotency-Key was already used with the same body and this is the original response.',
    enum: ['true'],
  },
  ETag: {
    description: 'Version of the content; send it back in If-None-Match, or in If-Match with a change.',
    pattern: '^(W/)?"[^"]*"$',
  },
  'Set-Cookie': { description: 'Sets the session cookie of the signed-in person, or clears it.' },
  'X-Request-Id': {
    description: 'The id of this request in the log: the one you sent if it is valid, otherwise a new one.',
    pattern: REQUEST_ID_PATTERN,
  },
  'Retry-After': { description: 'Number of seconds to wait before retrying.', type: 'integer', minimum: 0 },
  'WWW-Authenticate': { description: 'The authentication scheme: Bearer.' },
} as const satisfies Record<string, Header>

/** Headers that requests may name. `X-Request-Id` may be sent with every call. */
export const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description:
      'Identifies this request, without expiry. A retry with the same key and body returns the original result; the same key with a different body is rejected.',
    pattern: '^[\\x21-\\x7e]{1,200}$',
  },
  'If-None-Match': {
    description: 'The ETag of the response that you have. If it is still valid, the response is a 304 without a body.',
  },
  'If-Match': {
    description:
      'The ETag of the object as you read it at the address with its id, or several, or `*`. If somebody else has changed it since, the response is a 412 and nothing is written.',
  },
  'X-Request-Id': {
    description:
      'Your own id for this request: up to 128 characters from A-Z a-z 0-9 . _ : / - (anything else is replaced by a new id)',
  },
} as const satisfies Record<string, Header>

export interface Content {
  schema?: TSchema
  example?: unknown
  /** Several examples, each under a short name. */
  examples?: Record<string, { summary: string; value: unknown }>
}

/** `application/json`, and further content types. */
export interface Contents extends Content {
  also?: Record<string, Content>
}

export const CSV_CONTENT: Record<string, Content> = {
  'text/csv': { schema: Type.String({ description: 'A line with the names of the columns, and a line per item.' }) },
}

/** What is exported as objects of a list too. */
export const EXPORT_CONTENT: Record<string, Content> = {
  ...CSV_CONTENT,
  'application/x-ndjson': { schema: Type.String({ description: 'The objects of `data`, each on a line as JSON.' }) },
}

export const EVENT_STREAM_CONTENT: Record<string, Content> = {
  'text/event-stream': { schema: Type.String({ description: 'Server-sent events, as the operation describes them.' }) },
}

export interface DocumentedResponse extends Contents {
  description: string
  headers?: (keyof typeof RESPONSE_HEADERS)[]
}

export interface Documentation {
  /** Unique operation id; generated clients name the method after it. */
  id: string
  tag: keyof typeof TAGS
  /** A few words, as in a table of contents. */
  summary: string
  /** Markdown. */
  description?: string
  /** Descriptions of path parameters that have no schema. */
  path?: Record<string, string>
  /**
   * The part of the body that the route's `body` does not declare: examples, further content types, a stricter schema.
   */
  body?: Contents
  headers?: Exclude<keyof typeof REQUEST_HEADERS, 'X-Request-Id'>[]
  /** Errors are a `google.rpc.Status` instead of a problem, and invalid data is a 400: see `http/otlp.ts`. */
  otlp?: true
  /**
   * Successful responses by status. For CSV as an alternative to the JSON, add `also: CSV_CONTENT`; without a schema
   * there is no content.
   */
  responses: Record<number, DocumentedResponse>
  /**
   * Only problems specific to the route. The route implies `unauthenticated`, `forbidden`, the problems of bodies and
   * parameters, `not_found` if the path has a parameter, a busy or full database and `internal_error`.
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
 *       201: { description: 'The entry was created.', schema: TokenEntry, headers: ['Location'], example },
 *       200: { description: 'The entry was already reported.', schema: TokenEntry, headers: ['Idempotent-Replayed'] },
 *     },
 *     problems: ['session_shrunk', 'idempotency_key_reused'],
 *   }),
 * })
 * ```
 *
 * Schemas with an `$id` become components of that name; parameters of a query are made by `operations/parameters.ts`.
 */
export function documented(documentation: Documentation): DocumentDecoration {
  const { id: operationId, tag, summary, description } = documentation
  const detail: DocumentDecoration = { operationId, tags: [tag], summary, ...(description && { description }) }
  return { ...detail, documentation } as DocumentDecoration
}
