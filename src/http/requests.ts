/**
 * Handles every request: assigns an id, checks the credential before any of the body is read, and converts every error
 * to a problem.
 */
import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import type { Authentication } from '../access/authentication.ts'
import type { Caller } from '../access/caller.ts'
import { Problem } from '../errors.ts'
import {
  type Authenticate,
  type GuardedRoute,
  noCredential,
  renewedCaller,
  requestState,
  requireNetwork,
  type VersionReader,
} from './access.ts'
import { AnonymousLoad } from './anonymous-load.ts'
import { type AddressOf, innerRequests, type Listening } from './client-address.ts'
import { takeTurnsAs } from './disconnects.ts'
import { ExportLimit, ExportResponse } from './exports.ts'
import { plainEffect, plainHook } from './hooks.ts'
import { BodyMemory, REQUEST_LIMIT, requireRoom } from './load-limits.ts'
import { isOtlpExport, MISDIRECTED_ADVICE, otlpRefusal } from './otlp.ts'
import { asksForPage, notFoundPage } from './pages/not-found.ts'
import { asProblemOf, logProblem, problemResponse } from './problems.ts'
import type { RateLimits } from './rate-limits.ts'
import { isSameOrigin, notSameOrigin, type PublicUrl } from './same-origin.ts'
import type { SessionCookie } from './session-cookie.ts'
import { transportSecurityOf } from './tls.ts'
import { UnreadBodies } from './unread-bodies.ts'

/** Ids sent by clients are logged and returned, so they must be short and plain. */
const SANE_REQUEST_ID = /^[A-Za-z0-9._:/-]{1,128}$/

/**
 * For every response, unless a page or a file sets its own: responses must not be run, framed, sniffed or stored by
 * intermediaries. Entries and money are only for the caller.
 */
const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/**
 * Two headers that a proxy and Tally could interpret differently. Bun joins duplicates with commas, and `Number('2, 2')` is
 * NaN, which is neither above nor below any limit.
 */
function requireSingleHeaders({ headers }: Request): void {
  if (headers.get('host')?.includes(',')) throw sentTwice('Host')
  if (headers.get('content-length')?.includes(',')) throw sentTwice('Content-Length')
}

function sentTwice(header: string): Problem {
  return new Problem('bad_request', `The request has more than one ${header} header. Send it once.`, {
    headers: { connection: 'close' },
  })
}

interface Incoming {
  request: Request
  path: string
  caller: Caller | null
  authenticate: Authenticate
  address: () => string
  requestId: string
  versions: VersionReader | null
  bodyMemory: BodyMemory
  startedAt: number
  set: { headers: Record<string, string | number> }
}

export interface RequestsDependencies {
  people: Authentication
  cookie: SessionCookie
  addressOf: AddressOf
  /** The server; null for requests that do not come over a socket. */
  listening?: () => Listening
  /** What an option of this server gives as the public URL. */
  publicUrlOption?: string | undefined
  /** The public URL in effect. */
  publicUrl: PublicUrl
  /** Undefined if calls of tokens are not limited. */
  rateLimits?: RateLimits | undefined
  /** Maximum number of pending requests. */
  requestLimit?: number | undefined
  /** The limit for requests without a valid credential. */
  anonymousLoad?: AnonymousLoad | undefined
  /** Aborted when the server only finishes what it has accepted. */
  finishing?: AbortSignal | undefined
  logger: Logger
  /** Undefined if the routes have no objects that people change. */
  versions?: VersionReader | undefined
  /** A function, because the routes are known only when the application is complete. */
  routes: () => readonly GuardedRoute[]
}

export const requests = (dependencies: RequestsDependencies) => {
  const {
    people,
    cookie,
    addressOf,
    listening = () => null,
    publicUrlOption,
    publicUrl,
    rateLimits,
    requestLimit = REQUEST_LIMIT,
    anonymousLoad = new AnonymousLoad(),
    finishing = new AbortController().signal,
    logger,
    versions,
    routes,
  } = dependencies
  const bodyMemory = new BodyMemory()
  const exportLimit = new ExportLimit()
  const unreadBodies = new UnreadBodies(finishing)

  /** Returns no promise if the credential is cached: this runs before every request. */
  function authenticate(request: Request): Caller | Promise<Caller> {
    const authorization = request.headers.get('authorization')
    if (authorization !== null) return people.authenticate(authorization)
    const secret = cookie.read(request.headers)
    if (secret === undefined) throw noCredential()
    const isOurs = isSameOrigin(request, publicUrl)
    if (isOurs instanceof Promise) return isOurs.then((known) => authenticateSession(secret, known))
    return authenticateSession(secret, isOurs)
  }

  function authenticateSession(secret: string, isOurs: boolean): Caller | Promise<Caller> {
    if (!isOurs) throw notSameOrigin()
    return people.authenticateSession(secret)
  }

  /** For what lasts longer than one read; such a caller has been counted. */
  async function authenticateAgain(request: Request, address: string): Promise<Caller> {
    const caller = await authenticate(request)
    if (caller.kind === 'api') requireNetwork(caller, address)
    return caller
  }

  function admit(incoming: Incoming, caller: Caller): void {
    if (rateLimits && !innerRequests.get(incoming.request)?.isCounted) rateLimits.count(caller)
    if (caller.kind === 'api') requireNetwork(caller, incoming.address())
    incoming.caller = caller
    takeTurnsAs(caller)
  }

  /** Makes anonymous requests wait for their turn if there are too many; signed-in people do not wait. */
  function admitAnonymous({ request, address }: Incoming): void | Promise<void> {
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

  /** A caller with an invalid credential is refused when it is its turn, and no one else waits for that. */
  async function refuse(incoming: Incoming, error: unknown): Promise<never> {
    if (error instanceof Problem && error.status < 500) await anonymousLoad.turn(incoming.address())
    throw error
  }

  let openRoutes: OpenRoutes | undefined
  /** Under /api/v1 and for tools, a caller without credentials is refused before the route is looked up. */
  function isPublic(method: string, path: string): boolean {
    if (!path.startsWith('/api/v1/') && path !== '/api/v1' && !/^\/mcp\/?$/.test(path)) return true
    // Its answer says no more than the OpenAPI document, which is public.
    if (method === 'OPTIONS') return true
    openRoutes ??= openRoutesOf(routes())
    return openRoutes.paths.has(path) && !openRoutes.guarded.has(`${method === 'HEAD' ? 'GET' : method} ${path}`)
  }

  const securityHeaders = { ...SECURITY_HEADERS, ...transportSecurityOf(publicUrlOption) }

  /** Before anything else is known of a request. */
  function receive(incoming: Incoming): void | Promise<void> {
    incoming.startedAt = performance.now()
    const { headers } = incoming.request
    const sent = headers.get('x-request-id')
    incoming.requestId = sent && SANE_REQUEST_ID.test(sent) ? sent : Bun.randomUUIDv7()
    Object.assign(incoming.set.headers, securityHeaders)
    incoming.set.headers['x-request-id'] = incoming.requestId
    incoming.caller = null
    incoming.authenticate = authenticateAgain
    incoming.bodyMemory = bodyMemory
    incoming.versions = versions ?? null
    incoming.address = () => addressOf(incoming.request, listening())
    requireSingleHeaders(incoming.request)
    // Public routes, such as health checks, respond even if too many requests are pending.
    if (isPublic(incoming.request.method, incoming.path)) return admitAnonymous(incoming)
    requireRoom(listening()?.pendingRequests ?? 0, requestLimit)
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
  }

  function admitExport(incoming: Incoming & { response?: unknown; allowed: null }): void {
    const { response, request, path, requestId, caller } = incoming
    if (!(response instanceof ExportResponse)) return
    exportLimit.admit(response, request, {
      caller,
      renew: caller && (() => renewedCaller(incoming)),
      onFailure: (error) =>
        logProblem(logger, asProblemOf(error), error, {
          id: requestId,
          method: request.method,
          path: loggedPath(path),
        }),
    })
  }

  return new Elysia({ name: 'requests', normalize: false })
    .use(requestState())
    .onRequest(plainHook(receive as (context: object) => void | Promise<void>))
    .onAfterHandle({ as: 'global' }, plainEffect(admitExport as (context: object) => void))
    .onAfterResponse({ as: 'global' }, (context) => {
      const { request, route, set, requestId, startedAt } = context as typeof context &
        Partial<Pick<Incoming, 'startedAt'>>
      bodyMemory.release(request)
      if (startedAt === undefined || !logger.isLevelEnabled('debug')) return
      // Not the path, whose ids are in the log lines of refusals; and nothing of the query, which may contain user
      // input.
      const line = {
        request_id: requestId,
        method: request.method,
        route: route || 'none',
        // Not of a `Response` that a handler made, whose status Elysia does not put here.
        status: Number(set.status ?? 200),
      }
      logger.debug({ ...line, ms: Math.round((performance.now() - startedAt) * 10) / 10 }, 'request completed')
    })
    .onError({ as: 'global' }, async ({ error, code, request, path, requestId, set, address }) => {
      if (code === 'NOT_FOUND' && request.method === 'OPTIONS') {
        const options = optionsResponse(routes(), path, requestId)
        if (options) return options
      }
      const problem = code === 'NOT_FOUND' ? noRouteProblem(routes(), request.method, path) : asProblemOf(error, code)
      // The response has its own status; this one is for the metrics.
      set.status = problem.status
      logProblem(logger, problem, error, { id: requestId, method: request.method, path: loggedPath(path) })
      const id = requestId || Bun.randomUUIDv7()
      const response = isOtlpExport(request.method, path)
        ? otlpRefusal(problem, id, request)
        : problem.status === 404 && asksForPage(request, path)
          ? notFoundPage(id)
          : await problemResponse(request, problem, id)
      bodyMemory.release(request)
      if (!(await unreadBodies.discard(request, address()))) response.headers.set('connection', 'close')
      return response
    })
}

/** The path of a share link is its secret. */
function loggedPath(path: string): string {
  return path.replace(/^\/+share\/.*/is, '/share/…')
}

/** Paths with a public method, and `METHOD path` of those that are not. A method that does not exist is a 405. */
interface OpenRoutes {
  paths: ReadonlySet<string>
  guarded: ReadonlySet<string>
}

function openRoutesOf(routes: readonly GuardedRoute[]): OpenRoutes {
  const isOpen = ({ hooks }: GuardedRoute) => hooks.allowed === 'anyone'
  return {
    paths: new Set(routes.filter(isOpen).map(({ path }) => path)),
    guarded: new Set(routes.filter((route) => !isOpen(route)).map(({ method, path }) => `${method} ${path}`)),
  }
}

/** The methods of a path, for the header `Allow`; undefined if nothing exists there. */
function allowedMethods(routes: readonly GuardedRoute[], path: string): string | undefined {
  // A path without parameters is not one of those with parameters that also match.
  const exact = routes.filter((route) => route.path === path)
  const found = exact.length > 0 ? exact : routes.filter((route) => matches(route.path, path))
  if (found.length === 0) return undefined
  const methods = new Set(['OPTIONS', ...found.map(({ method }) => method)])
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods].sort().join(', ')
}

/** RFC 9110, 9.3.7; undefined if nothing exists at the path. */
function optionsResponse(routes: readonly GuardedRoute[], path: string, requestId: string): Response | undefined {
  const allow = allowedMethods(routes, path)
  return allow === undefined
    ? undefined
    : new Response(null, { status: 204, headers: { allow, 'x-request-id': requestId } })
}

/** 404, or 405 if the path exists with other methods. */
function noRouteProblem(routes: readonly GuardedRoute[], method: string, path: string): Problem {
  const allowed = allowedMethods(routes, path)
  const advice = isOtlpExport(method, path) ? MISDIRECTED_ADVICE : 'See /docs/api for the API reference.'
  if (allowed === undefined) {
    return new Problem('not_found', `Nothing exists at this address. ${advice}`)
  }
  return new Problem('method_not_allowed', `This address supports ${allowed} only. ${advice}`, {
    headers: { allow: allowed },
  })
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('/')
  const sent = path.split('/')
  return parts.length === sent.length && parts.every((part, index) => part.startsWith(':') || part === sent[index])
}
