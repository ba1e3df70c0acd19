/** Serves operations over HTTP: their routes, and what the OpenAPI document says of them. */
import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { type Context, Elysia } from 'elysia'
import type { CreateEden } from 'elysia/types'
import type { Caller } from '../access/caller.ts'
import type {
  AnyAction,
  AnyListing,
  Call,
  NeedsOf,
  Operation,
  ParametersOf,
  ResultOf,
} from '../operations/operation.ts'
import { listPage } from '../operations/parameters.ts'
import { strict } from '../schema.ts'
import { access, askerOf, partyOf, viewerOf } from './access.ts'
import { type Documentation, documented } from './documentation.ts'
import { answerList } from './list.ts'

/** Where all operations are served. */
const PREFIX = '/api/v1'

/** The part of a request's context that an operation is called with. */
interface Served {
  request: Request
  params: Record<string, string>
  query: Record<string, string | string[] | undefined>
  body: unknown
  caller: Caller | null
  address: () => string
  set: Context['set']
}

/** A request as a call. What it says about the caller is found out for the operations that ask. */
class Requested implements Call {
  readonly params
  readonly query
  readonly body

  constructor(readonly served: Served) {
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
}

type Handler = (served: Served) => Promise<unknown>

function handlerOf(operation: AnyAction, needs: never): Handler {
  const { status } = operation.answer
  const [, collection] = operation.path.split('/')
  return async (served) => {
    const result = await operation.run(needs, new Requested(served) as never)
    if (status !== 200) served.set.status = status
    if (status === 201) served.set.headers.location = `${PREFIX}/${collection}/${(result as { id: string }).id}`
    return result
  }
}

function handlerOfList(operation: AnyListing, needs: never): Handler {
  const { read, check, list, keyOf, pageBehind, bodyOf, columns, plural } = operation
  return async (served) => {
    const asked = read(served.query)
    const call = new Requested(served)
    const filter = asked.filter as never
    if (check) await check(needs, filter, call.asker)
    return answerList<never, never, string>(served.request, asked, {
      list: (page) => list(needs, filter, page as never, call) as Promise<never[]>,
      keyOf,
      pageBehind: (row, by) => pageBehind(row, by as never),
      bodyOf: (row) => bodyOf(row, call) as never,
      columns,
      fileName: `${plural}.csv`,
    })
  }
}

function documentationOf(operation: AnyAction | AnyListing): Documentation {
  const { id, tag, summary, description, params, problems = [] } = operation
  const described = { id, tag, summary, ...(description && { description }), ...(params && { path: params }) }
  if (isListing(operation)) {
    const { page, plural, example } = operation
    return {
      ...described,
      responses: {
        200: {
          description: `A page of ${plural}.`,
          schema: page,
          example: { data: [example], has_more: false, next_page: null },
          also: { 'text/csv': { schema: Type.String() } },
        },
      },
      problems: [...problems, 'database_deadline'],
    }
  }
  const { status, ...answer } = operation.answer
  return {
    ...described,
    ...(operation.example !== undefined && { body: { example: operation.example } }),
    responses: { [status]: { ...answer, ...(status === 201 && { headers: ['Location'] }) } },
    problems,
  }
}

function isListing(operation: AnyAction | AnyListing): operation is AnyListing {
  return 'list' in operation
}

/** The parameters of a list's query include those of every list. */
function queryOf(operation: AnyAction | AnyListing): TProperties | undefined {
  if (!isListing(operation)) return operation.query
  const { plural, query } = operation
  return { ...query, ...listPage(`${plural[0]!.toUpperCase()}${plural.slice(1)}`) }
}

/** The routes of operations that need the same services. */
export function serve<const Operations extends readonly Operation[]>(
  operations: Operations,
  needs: Intersection<NeedsOf<Operations[number]>>,
): ServedBy<Operations> {
  const routes = new Elysia({ normalize: false }).use(access())
  for (const each of operations as unknown as readonly (AnyAction | AnyListing)[]) {
    const query = queryOf(each)
    const body = isListing(each) ? undefined : each.body
    const handler = isListing(each) ? handlerOfList(each, needs as never) : handlerOf(each, needs as never)
    routes.route(isListing(each) ? 'GET' : each.method, each.path, handler as never, {
      allow: each.allow,
      ...(each.scope && { scope: each.scope }),
      ...(each.object && { object: each.object }),
      ...(query && { query: Type.Object(query, strict) }),
      ...(body && { body, parse: 'report' }),
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
          body: Of extends { body: infer Body extends TSchema } ? Static<Body> : unknown
          params: ParametersOf<Path>
          query: Of extends { query: infer Query extends TProperties } ? QueryOf<Of, Query> : unknown
          headers: unknown
          response: { 200: ResultOf<Of> }
        }
      }
    >
  : never

type MethodOf<Of> = Of extends { method: infer Method extends string } ? Lowercase<Method> : 'get'

type QueryOf<Of, Query extends TProperties> = Static<
  TObject<Of extends { plural: unknown } ? Query & ReturnType<typeof listPage> : Query>
>

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never
