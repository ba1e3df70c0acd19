/**
 * What happens to every request: it gets an id, its credential is checked before anything of its body is read, and
 * whatever is thrown on the way becomes a problem.
 */
import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import type { Authentication } from '../access/authentication.ts'
import type { Caller } from '../access/caller.ts'
import { Problem } from '../errors.ts'
import { type GuardedRoute, noCredential, requestState } from './access.ts'
import { AnonymousLoad } from './anonymous-load.ts'
import type { AddressOf, Listening } from './client-address.ts'
import { ExportLimit } from './exports.ts'
import { BodyMemory, REQUEST_LIMIT, requireRoom } from './load-limits.ts'
import { isOtlpExport, otlpRefusal } from './otlp.ts'
import { asProblemOf, logProblem, problemResponse } from './problems.ts'
import type { RateLimits } from './rate-limits.ts'
import { requireSameOrigin } from './same-origin.ts'
import type { SessionCookie } from './session-cookie.ts'

/** Ids that clients send are logged and sent back, so they must be short and plain. */
const SANE_REQUEST_ID = /^[A-Za-z0-9._:/-]{1,128}$/

/**
 * On every answer, where a page or a file does not say more: nothing that Tally answers may be run, framed, guessed at
 * or kept by what passes it on. Entries and money belong to whoever asked.
 */
const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** A year, as browsers and preload lists expect. Only where people reach Tally by TLS. */
const TRANSPORT_SECURITY = { 'strict-transport-security': 'max-age=31536000' }

/** The two headers by which a proxy and Tally could see two different requests; Bun joins what comes twice by commas. */
function requireSingleHeaders({ headers }: Request): void {
  const twice = ['host', 'content-length'].find((name) => headers.get(name)?.includes(','))
  if (twice === undefined) return
  throw new Problem(
    'bad_request',
    `The request has more than one ${twice === 'host' ? 'Host' : 'Content-Length'} header. Send it once.`,
    {
      headers: { connection: 'close' },
    },
  )
}

interface Incoming {
  request: Request
  path: string
  server: Listening
  caller: Caller | null
  address: () => string
  requestId: string
  bodyMemory: BodyMemory
  begunAt: number
  set: { headers: Record<string, string | number> }
}

export interface RequestsDependencies {
  people: Authentication
  cookie: SessionCookie
  addressOf: AddressOf
  publicUrl?: string | undefined
  /** Undefined where tokens may call as often as they like. */
  rateLimits?: RateLimits | undefined
  /** Requests that may wait for an answer. */
  requestLimit?: number | undefined
  /** The turns of requests without a valid credential. */
  anonymousLoad?: AnonymousLoad | undefined
  logger: Logger
  /** Known only when the application is whole, so it is asked for when it is needed. */
  routes: () => readonly GuardedRoute[]
}

export const requests = (dependencies: RequestsDependencies) => {
  const {
    people,
    cookie,
    addressOf,
    publicUrl,
    rateLimits,
    requestLimit = REQUEST_LIMIT,
    anonymousLoad = new AnonymousLoad(),
    logger,
    routes,
  } = dependencies
  const bodyMemory = new BodyMemory()
  const exportLimit = new ExportLimit()

  /** No promise where the credential is held in memory: this runs before every request. */
  function authenticate(request: Request): Caller | Promise<Caller> {
    const authorization = request.headers.get('authorization')
    if (authorization !== null) return people.authenticate(authorization)
    const secret = cookie.read(request.headers)
    if (secret === undefined) throw noCredential()
    requireSameOrigin(request, publicUrl)
    return people.authenticateSession(secret)
  }

  function admit(incoming: Incoming, caller: Caller): void {
    rateLimits?.count(caller)
    incoming.caller = caller
  }

  /** What anybody may call waits for its turn where there is more of it than can be had; people who are signed in do not. */
  function admitAnybody({ request, address }: Incoming): void | Promise<void> {
    if (anonymousLoad.isPressed(address())) return admitPressed(request, address())
    return anonymousLoad.turn(address())
  }

  async function admitPressed(request: Request, address: string): Promise<void> {
    if (!(await isKnown(request))) await anonymousLoad.turn(address)
  }

  async function isKnown(request: Request): Promise<boolean> {
    const authorization = request.headers.get('authorization')
    const secret = cookie.read(request.headers)
    if (authorization === null && secret === undefined) return false
    try {
      await (authorization !== null ? people.authenticate(authorization) : people.authenticateSession(secret!))
      return true
    } catch {
      return false
    }
  }

  /** Whoever sent no valid credential hears so when it is their turn, and nobody else waits for that. */
  async function refuse(incoming: Incoming, error: unknown): Promise<never> {
    if (error instanceof Problem && error.status < 500) await anonymousLoad.turn(incoming.address())
    throw error
  }

  let openRoutes: OpenRoutes | undefined
  /** Below /api/v1, a caller without credentials is refused before the address is even looked up. */
  function isPublic(method: string, path: string): boolean {
    if (!`${path}/`.startsWith('/api/v1/')) return true
    openRoutes ??= openRoutesOf(routes())
    return openRoutes.has(path) || openRoutes.has(`${method} ${path}`)
  }

  const securityHeaders = { ...SECURITY_HEADERS, ...(publicUrl?.startsWith('https:') && TRANSPORT_SECURITY) }

  return new Elysia({ name: 'requests', normalize: false })
    .use(requestState())
    .onRequest((context) => {
      const incoming = context as unknown as Incoming
      incoming.begunAt = performance.now()
      const { headers } = incoming.request
      const sent = headers.get('x-request-id')
      incoming.requestId = sent && SANE_REQUEST_ID.test(sent) ? sent : Bun.randomUUIDv7()
      Object.assign(incoming.set.headers, securityHeaders, { 'x-request-id': incoming.requestId })
      incoming.caller = null
      incoming.bodyMemory = bodyMemory
      incoming.address = () => addressOf(incoming.request, incoming.server)
      requireSingleHeaders(incoming.request)
      // What is public is answered also when too much waits, such as that Tally is well.
      if (isPublic(incoming.request.method, incoming.path)) return admitAnybody(incoming)
      requireRoom(incoming.server?.pendingRequests ?? 0, requestLimit)
      let caller: Caller | Promise<Caller>
      try {
        caller = authenticate(incoming.request)
      } catch (error) {
        return refuse(incoming, error)
      }
      if (caller instanceof Promise) {
        return caller.then(
          (known) => admit(incoming, known),
          (error) => refuse(incoming, error),
        )
      }
      admit(incoming, caller)
    })
    .onAfterHandle({ as: 'global' }, (context) => {
      exportLimit.admit((context as { response?: unknown }).response, context.request, context.caller)
    })
    .onAfterResponse({ as: 'global' }, (context) => {
      const { request, route, set, requestId, begunAt } = context as typeof context & Partial<Pick<Incoming, 'begunAt'>>
      bodyMemory.release(request)
      if (begunAt === undefined || !logger.isLevelEnabled('debug')) return
      // Not the path, whose ids are in lines of refusals; and nothing of a query, which may hold what people wrote.
      const line = {
        request_id: requestId,
        method: request.method,
        route: route || 'none',
        status: Number(set.status ?? 200),
      }
      logger.debug({ ...line, ms: Math.round((performance.now() - begunAt) * 10) / 10 }, 'request completed')
    })
    .onError({ as: 'global' }, ({ error, code, request, path, requestId, set }) => {
      const problem = code === 'NOT_FOUND' ? nothingHere(routes(), path) : asProblemOf(error, code)
      // The answer has a status of its own; this one is what is counted.
      set.status = problem.status
      logProblem(logger, problem, error, { id: requestId, method: request.method, path })
      const id = requestId || Bun.randomUUIDv7()
      return isOtlpExport(request.method, path) ? otlpRefusal(problem, id, request) : problemResponse(problem, id)
    })
}

/** Paths where anyone may call with every method that exists, and `METHOD path` for the others. */
type OpenRoutes = ReadonlySet<string>

function openRoutesOf(routes: readonly GuardedRoute[]): OpenRoutes {
  const isOpen = ({ hooks }: GuardedRoute) => hooks.allowed === 'anyone'
  const guarded = new Set(routes.filter((route) => !isOpen(route)).map(({ path }) => path))
  return new Set(routes.filter(isOpen).map(({ method, path }) => (guarded.has(path) ? `${method} ${path}` : path)))
}

/** 404, or 405 where the address exists with other methods. */
function nothingHere(routes: readonly GuardedRoute[], path: string): Problem {
  const methods = new Set(routes.filter((route) => matches(route.path, path)).map(({ method }) => method))
  if (methods.size === 0) {
    return new Problem('not_found', 'Nothing exists at this address. See /docs for the API reference.')
  }
  if (methods.has('GET')) methods.add('HEAD')
  const allowed = [...methods].sort().join(', ')
  return new Problem('method_not_allowed', `This address supports ${allowed} only.`, { headers: { allow: allowed } })
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('/')
  const sent = path.split('/')
  return parts.length === sent.length && parts.every((part, index) => part.startsWith(':') || part === sent[index])
}
