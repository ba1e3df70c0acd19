/** Serves operations over HTTP: their routes, and what the OpenAPI document says of them. */
import { type Static, type TObject, type TProperties, type TSchema, type TUndefined, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { CreateEden } from 'elysia/types'
import { Serialized } from '../lib/serialized.ts'
import type {
  Answer,
  AnyAction,
  AnyListing,
  Call,
  NeedsOf,
  Operation,
  ParametersOf,
  ResultOf,
  Served,
} from '../operations/operation.ts'
import { listPage } from '../operations/parameters.ts'
import type { Rows } from '../schema/lists.ts'
import { strict } from '../schema/types.ts'
import type { Scope } from '../shared/token-scopes.ts'
import { access, approverOf, askerOf, hasScope, partyOf, renewedCaller, requireCaller, viewerOf } from './access.ts'
import { CSV_CONTENT, type Documentation, documented } from './documentation.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { answerList } from './list.ts'

/** Where all operations are served. */
const PREFIX = '/api/v1'

/** The context of a request. */
interface Context extends Served, Pick<Parameters<typeof renewedCaller>[0], 'authenticate' | 'allowed'> {
  params: Record<string, string>
  query: Record<string, string | string[] | undefined>
  body: unknown
}

/** A request as a call. What it says about the caller is found out for the operations that ask. */
class Requested implements Call {
  readonly params
  readonly query
  readonly body

  constructor(readonly served: Context) {
    this.params = served.params
    this.query = served.query
    this.body = served.body
  }

  get viewer() {
    return viewerOf(this.served.caller)
  }

  get asker() {
    return askerOf(this.served.caller)
  }

  get party() {
    return partyOf(this.served)
  }

  get approver() {
    return approverOf(this.served)
  }

  hasScope(scope: Scope) {
    return hasScope(requireCaller(this.served.caller), scope)
  }

  get principal() {
    return requireCaller(this.served.caller, ['api', 'session'])
  }

  /** The caller once more, as their rights are now. */
  renewed() {
    return renewedCaller(this.served)
  }

  get request() {
    return this.served.request
  }

  get idempotencyKey() {
    return readIdempotencyKey(this.served.request.headers.get('idempotency-key'))
  }
}

type Handler = (context: Context) => Promise<unknown>

/** The responses that an operation may have; the first one is usual, and another with 200 is that of a dry run. */
const answersOf = ({ answer }: AnyAction): readonly Answer[] => [answer].flat()

/** Responses to reads get their entity tag in `http/responses.ts`. */
const jsonResponse = ({ json }: Serialized) => new Response(json, { headers: { 'content-type': 'application/json' } })

function handlerOf(operation: AnyAction, needs: never): Handler {
  const [usual, ...others] = answersOf(operation)
  const ofDryRun = others.find(({ status }) => status === 200)
  const [, collection] = operation.path.split('/')
  return async (context) => {
    const { set } = context
    const isDryRun = ofDryRun && (context.body as { dry_run?: boolean } | undefined)?.dry_run === true
    const { status, isAddressed = status === 201 } = isDryRun ? ofDryRun : usual!
    if (status !== 200) set.status = status
    const result = await operation.run(needs, new Requested(context) as never)
    if (isAddressed) set.headers.location = `${PREFIX}/${collection}/${(result as { id: string }).id}`
    if (set.status === 204) return undefined
    return result instanceof Serialized && operation.method !== 'GET' ? jsonResponse(result) : result
  }
}

function handlerOfList(operation: AnyListing, needs: never): Handler {
  const { read, check, rows, bodyOf, columns, plural } = operation
  return async (context) => {
    const { filter, ...page } = read(context.query)
    const call = new Requested(context)
    if (check) await check(needs, filter as never, call.asker)
    return answerList(context.request, page, {
      filter,
      rows: rows(needs, call) as Rows<unknown, string, unknown>,
      bodyOf: (row) => bodyOf(row as never, call) as never,
      columns,
      fileName: `${plural}.csv`,
    })
  }
}

function documentationOf(operation: AnyAction | AnyListing): Documentation {
  const { id, tag, summary, description, params, headers, problems = [] } = operation
  const described = {
    id,
    tag,
    summary,
    ...(description && { description }),
    ...(params && { path: params }),
    ...(headers && { headers }),
  }
  if (isListing(operation)) {
    const { page, plural, example } = operation
    return {
      ...described,
      responses: {
        200: {
          description: `A page of ${plural}.`,
          schema: page,
          example: { data: [example], has_more: false, next_page: null },
          also: CSV_CONTENT,
        },
      },
      problems: [...problems, 'database_deadline'],
    }
  }
  const { shown: schema, example, examples, also } = operation
  const body = {
    ...(schema && { schema }),
    ...(example !== undefined && { example }),
    ...(examples && { examples }),
    ...(also && { also }),
  }
  return {
    ...described,
    ...(Object.keys(body).length > 0 && { body }),
    responses: Object.fromEntries(
      answersOf(operation).map(({ status, isAddressed = status === 201, headers: own = [], ...answer }) => {
        const all = isAddressed ? ['Location' as const, ...own] : own
        return [status, { ...answer, ...(all.length > 0 && { headers: all }) }]
      }),
    ),
    problems,
  }
}

function isListing(operation: AnyAction | AnyListing): operation is AnyListing {
  return 'plural' in operation
}

/** Of an operation of each kind: the handler, the parameters of the query, and as `shape` the options of its body. */
function routeOf(operation: AnyAction | AnyListing, needs: never) {
  if (isListing(operation)) {
    const { plural, query } = operation
    const page = listPage(`${plural[0]!.toUpperCase()}${plural.slice(1)}`)
    return { method: 'GET', handler: handlerOfList(operation, needs), query: { ...query, ...page }, shape: {} }
  }
  const { method, query, body, parse = body && ('report' as const) } = operation
  const shape = { ...(body && { body }), ...(parse && { parse }) }
  return { method, handler: handlerOf(operation, needs), query, shape }
}

/** The routes of operations that need the same services. */
export function serve<const Operations extends readonly Operation[]>(
  operations: Operations,
  needs: Intersection<NeedsOf<Operations[number]>>,
): ServedBy<Operations> {
  const routes = new Elysia({ normalize: false }).use(access())
  for (const each of operations) {
    const { method, handler, query, shape } = routeOf(each, needs as never)
    routes.route(method, each.path, handler as never, {
      allow: each.allow,
      ...(each.scope && { scope: each.scope }),
      ...(each.object && { object: each.object }),
      ...(each.forProjects && { forProjects: true }),
      ...(query && { query: Type.Object(query, strict) }),
      ...shape,
      detail: documented(documentationOf(each)),
    })
  }
  return routes as unknown as ServedBy<Operations>
}

/** The routes' types, which the web application's client knows. */
type ServedBy<Operations extends readonly Operation[]> = Elysia<
  '',
  Elysia['~Singleton'],
  Elysia['~Definitions'],
  Elysia['~Metadata'],
  Intersection<RouteOf<Operations[number]>> & Record<never, never>
>

/** Of one operation, or of each of a union. */
type RouteOf<Of> = Of extends { path: infer Path extends string }
  ? CreateEden<
      Path,
      {
        [Method in MethodOf<Of>]: {
          body: Of extends { body?: infer Body } ? BodyOf<Extract<Body, TSchema>> : unknown
          params: ParametersOf<Path>
          query: Of extends { query?: infer Query } ? QueryOf<Of, Extract<Query, TProperties>> : unknown
          headers: unknown
          response: { 200: ResultOf<Of> }
        }
      }
    >
  : never

/** Unknown without a schema: a parser of its own may read one. */
type BodyOf<Schema extends TSchema> = Schema extends TUndefined ? unknown : Static<Schema>

type MethodOf<Of> = Of extends { method: infer Method extends string } ? Lowercase<Method> : 'get'

type QueryOf<Of, Query extends TProperties> = Static<
  TObject<Of extends { plural: unknown } ? Query & ReturnType<typeof listPage> : Query>
>

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never
