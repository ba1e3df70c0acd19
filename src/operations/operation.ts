/**
 * An operation: one thing that Tally does for its callers, defined once. From its definition come its route
 * (`http/serving.ts`) with the entry in the OpenAPI document, and its command (`cli/operations.ts`). It imports neither, so
 * that a command does not load the server.
 */
import type { Static, TObject, TProperties, TSchema, TUndefined } from '@sinclair/typebox'
import type { Party } from '../access/actor.ts'
import type { Asker } from '../access/asker.ts'
import type { Caller, Principal } from '../access/caller.ts'
import type { ObjectKind } from '../access/precondition.ts'
import type { Viewer } from '../access/visibility.ts'
import type { ProblemCode } from '../errors.ts'
import type { Allowed } from '../http/access.ts'
import type { Contents, Documentation, DocumentedResponse, TAGS } from '../http/documentation.ts'
import type { CsvColumn } from '../lib/csv-column.ts'
import type { Page, Rows } from '../schema/lists.ts'
import type { ListFormat, PageRequest, QueryTexts } from '../schema/query.ts'
import type { RouteScope, Scope } from '../shared/token-scopes.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The names of the parameters in a path: `id` of `/clients/:id`. */
export type ParameterOf<Path extends string> = Path extends `${infer First}/${infer Rest}`
  ? ParameterOf<First> | ParameterOf<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : never

export type ParametersOf<Path extends string> = { [Name in ParameterOf<Path>]: string }

/** What is called, and by whom: a request, or a command line, which has an admin's rights. */
export interface Call<Parameters = unknown, Query = unknown, Body = unknown> {
  params: Parameters
  query: Query
  body: Body
  /** What the caller sees. */
  viewer: Viewer
  /** The caller as somebody who filters by names. */
  asker: Asker
  /** The caller as the one who changes something. */
  party: Party
  /** The same as the one who decides about entries and sheets, and sees what they may approve. */
  approver: Party
  /** Whether the caller's API token has a scope. Nobody else needs one. */
  hasScope: (scope: Scope) => boolean
  /** Whose rights something has that lasts longer than the call; null on the command line, which has an admin's. */
  principal: Principal | null
  /** Null on the command line. */
  request: Request | null
  /** Under which this is done only once. */
  idempotencyKey: string | undefined
}

/** A request, as far as operations need more of it than a {@link Call} has. */
export interface Served {
  request: Request
  caller: Caller | null
  address: () => string
  requestId: string
  /** Of the object that is read; see `object`. */
  version: string
  /** What waits for longer than a connection may be silent says so. */
  server: { timeout: (request: Request, seconds: number) => void } | null
  /** The response's status and headers. */
  set: { status?: unknown; headers: Record<string, string | number | string[] | undefined> }
}

/** A successful response. */
export interface Answer extends Contents {
  /**
   * 200: done. 201: something was created, whose address follows from its `id`. 202: accepted, and done soon. 204: done, and
   * there is nothing to return.
   */
  status: 200 | 201 | 202 | 204
  description: string
  headers?: DocumentedResponse['headers']
  /** Whether what was created is found under its id; it is if absent. */
  isAddressed?: false
}

/** The answer of an operation that returns one thing; `more` is what else it has, such as another status. */
export const result = (description: string, schema: TSchema, example: unknown, more: Partial<Answer> = {}): Answer => ({
  status: 200,
  description,
  schema,
  example,
  ...more,
})

/** The answer of an operation that returns several things, or a page of them. `example` is one of them. */
export const several = (description: string, schema: TSchema, example: unknown): Answer => ({
  status: 200,
  description,
  schema,
  example: { data: [example], has_more: false, next_page: null },
})

/** What an operation is, whatever it does. */
interface Described<Path extends string, Query extends TProperties> {
  /** Unique; generated clients name the method after it. */
  id: string
  tag: keyof typeof TAGS
  /** A few words, as in a table of contents. */
  summary: string
  /** Markdown. */
  description?: string
  /** Below `/api/v1`. */
  path: Path
  /** What each parameter of the path means. */
  params?: ParametersOf<Path>
  query?: Query
  allow: Allowed
  /** The scope with which an API token may call it; needed if signed-in people may. */
  scope?: RouteScope
  /** The kind of the object that it reads or changes, which has a version. */
  object?: ObjectKind
  /** Whether tokens that are limited to a project may call it, see `limit` of `TokenCaller`. */
  forProjects?: true
  /** That requests may have. */
  headers?: Documentation['headers']
  /** Only those that do not follow from the rest; see `documented`. */
  problems?: ProblemCode[]
}

/** What the parsers of bodies other than JSON return; see `http/body.ts`. */
interface ParsedBodies {
  batch: unknown
  /** The text of a file. */
  table: string
  /** The bytes of a file. */
  picture: Uint8Array
}

type Parser = keyof ParsedBodies

/** An operation that does one thing and returns what became of it. */
export interface AnyAction extends Described<string, TProperties> {
  method: Method
  body?: TSchema
  /** The parser of the body, if it is not that of JSON. */
  parse?: Parser
  /** What the document says of the body, if it is more than `body` checks before `run`. */
  shown?: TSchema
  /** Of the body. */
  example?: unknown
  examples?: Contents['examples']
  /** What the body may be besides JSON. */
  also?: Contents['also']
  /** The successful response; several if its status differs. */
  answer: Answer | readonly [Answer, ...Answer[]]
  /** @param needs the services */
  run: (needs: never, call: never) => Promise<unknown>
}

/** @typeParam Given what `run` needs of a call besides what every call has */
interface Action<
  Path extends string,
  Verb extends Method,
  Query extends TProperties,
  Body extends TSchema,
  Parse extends Parser,
  Needs,
  Result,
  Given,
> extends AnyAction,
    Described<Path, Query> {
  path: Path
  params?: ParametersOf<Path>
  query?: Query
  method: Verb
  body?: Body
  parse?: Parse
  run: (
    needs: Needs,
    call: Call<ParametersOf<Path>, Static<TObject<Query>>, BodyOf<Body, Parse>> & Given,
  ) => Promise<Result>
}

/** `Parse` is `never` without a parser. */
type BodyOf<Body extends TSchema, Parse extends Parser> = [Parse] extends [never] ? Static<Body> : ParsedBodies[Parse]

const action =
  <Given>() =>
  <
    const Path extends string,
    const Verb extends Method,
    Needs,
    Result,
    Query extends TProperties = Record<never, never>,
    Body extends TSchema = TUndefined,
    Parse extends Parser = never,
  >(
    definition: Action<Path, Verb, Query, Body, Parse, Needs, Result, Given>,
  ): Action<Path, Verb, Query, Body, Parse, Needs, Result, Given> =>
    definition

export const operation = action<unknown>()

/**
 * An operation that needs the request itself, as streams and signing in do: it has no command. If it imports code of `http/`, it
 * is in a file that no command imports, as it may load the server.
 */
export const endpoint = action<{ served: Served; renewed: () => Promise<Caller> }>()

/** What a caller asks a list for. */
interface ListRequest<Filter> extends PageRequest {
  filter: Filter
  format: ListFormat | undefined
}

/** An operation that lists something: page by page, or all of it as CSV. */
export interface AnyListing extends Described<string, TProperties> {
  /** What is listed, as in `clients`. */
  plural: string
  page: TSchema
  /** One of them. */
  example: unknown
  columns: CsvColumn<never>[]
  /** Throws 422 with every issue of the query. */
  read: (query: QueryTexts) => ListRequest<unknown>
  /** Throws 422 for names in the filter that do not exist. */
  check?: (needs: never, filter: never, asker: Asker) => Promise<void>
  rows: (needs: never, call: Call) => unknown
  bodyOf: (row: never, call: Call) => unknown
}

interface Listing<Path extends string, Query extends TProperties, Needs, Filter, Sort extends string, Row, Body>
  extends AnyListing,
    Described<Path, Query> {
  path: Path
  params?: ParametersOf<Path>
  query?: Query
  example: NoInfer<Body>
  columns: CsvColumn<NoInfer<Body>>[]
  read: (query: QueryTexts) => PageRequest<Sort> & ListRequest<Filter>
  check?: (needs: Needs, filter: Filter, asker: Asker) => Promise<void>
  rows: (needs: Needs, call: Call) => Rows<Filter, Sort, Row>
  bodyOf: (row: Row, call: Call) => Body
}

export const listing = <
  const Path extends string,
  Query extends TProperties,
  Needs,
  Filter,
  Sort extends string,
  Row,
  Body,
>(
  definition: Listing<Path, Query, Needs, Filter, Sort, Row, Body>,
): Listing<Path, Query, Needs, Filter, Sort, Row, Body> => definition

export type Operation = AnyAction | AnyListing

/** What an operation needs to run. */
export type NeedsOf<Of> = Of extends { run: (needs: infer Needs, call: never) => unknown }
  ? Needs
  : Of extends { rows: (needs: infer Needs, call: never) => unknown }
    ? Needs
    : never

/** What it returns: a list its page. */
export type ResultOf<Of> = Of extends { run: (needs: never, call: never) => Promise<infer Result> }
  ? Result
  : Of extends { bodyOf: (row: never, call: never) => infer Body }
    ? Page<Body>
    : never
