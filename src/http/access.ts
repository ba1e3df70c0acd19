/**
 * Who may call what. Credentials are checked before a body is read (`http/requests.ts`); here each route declares the
 * kinds of credentials it accepts, which the macro checks before parsing and validation. Both throw: Elysia's
 * ahead-of-time compilation may ignore a guard that returns its refusal.
 */
import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Actor, Party } from '../access/actor.ts'
import type { Asker } from '../access/asker.ts'
import type { Caller, CallerKind, CallerOf, Person, TokenLimit } from '../access/caller.ts'
import { type ObjectKind, SINGLE_KINDS } from '../access/precondition.ts'
import {
  approvalViewerOf as approvalViewerOfPerson,
  grantedViewer,
  type Viewer,
  viewerOf as viewerOfPerson,
  withoutFees,
} from '../access/visibility.ts'
import { Problem } from '../errors.ts'
import { isId } from '../lib/id.ts'
import { networkTest } from '../lib/network.ts'
import { ROLES, STAFF_ROLES } from '../schema/fields.ts'
import { includesScope, type RouteScope, type Scope, scopesOfRoute } from '../shared/token-scopes.ts'
import { bodies, jsonParser } from './body.ts'
import { matchedVersions } from './entity-tags.ts'
import { plainEffect, plainHook } from './hooks.ts'
import { type QueryCall, restoreBrackets } from './query.ts'
import { readResponse } from './responses.ts'

type Role = Person['role']

/**
 * Who may call a route: anyone, without a credential; callers with these kinds of credentials and any role but viewer; or,
 * by kind of credential, callers with one of these roles. Viewers may call only routes that name their role.
 *
 * ```ts
 * allow: 'anyone'
 * allow: ['read', 'session']
 * allow: { session: ['billing', 'admin'] }
 * allow: { session: EVERY_ROLE }
 * ```
 */
export type Allowed = 'anyone' | Demand
type Demand = readonly CallerKind[] | { readonly [Kind in CallerKind]?: readonly Role[] }

/** For routes that viewers may call, too. */
export const EVERY_ROLE = ROLES

const CREDENTIALS: Record<CallerKind, string> = {
  service: 'a service token (tally_svc_…)',
  read: 'a read token (tally_read_…)',
  organization: 'an organization token (tally_org_…)',
  api: 'an API token (tally_api_…)',
  session: 'a signed-in person',
}

/** Names of the security schemes in the OpenAPI document. */
export const SECURITY_SCHEMES: Record<CallerKind, string> = {
  service: 'serviceToken',
  read: 'readToken',
  organization: 'organizationToken',
  api: 'apiToken',
  session: 'session',
}

/** The cookie's name without TLS. */
export const SESSION_COOKIE = 'tally_session'

function either(words: readonly string[]): string {
  return words.join(' or ')
}

function wrongKind(needed: readonly CallerKind[], sent: CallerKind): Problem {
  return new Problem(
    'forbidden',
    `This request needs ${either(needed.map((kind) => CREDENTIALS[kind]))}, not ${CREDENTIALS[sent]}.`,
  )
}

function wrongRole(needed: readonly Role[], { kind, person }: Caller): Problem {
  const whose = kind === 'session' ? 'you have the role' : 'the creator of this token has the role'
  return new Problem(
    'forbidden',
    `This request needs the role ${either(needed)}; ${whose} ${person.role}. Ask an admin to change it.`,
  )
}

/**
 * Context of every request: the caller, and what finds and checks them, the client address, the request id, and the version
 * of what it reads.
 */
export const requestState = () =>
  new Elysia({ name: 'request-state' }).decorate({
    caller: null as Caller | null,
    authenticate: null as Authenticate | null,
    allowed: null as AllowCheck | null,
    address: (() => 'unknown') as () => string,
    requestId: '',
    version: '',
    versions: null as VersionReader | null,
  })

/** Finds the caller of a request. Throws `unauthenticated` and `forbidden`. */
export type Authenticate = (request: Request, address: string) => Caller | Promise<Caller>

/** Throws `forbidden` for a caller whom a route does not allow. */
type AllowCheck = (call: Pick<Call, 'caller'>) => void

/** The version of the object with an id. */
export type VersionReader = (objectId: string) => Promise<string>

/**
 * The part of a route that `allow` reads, and the field that it sets for {@link requireAllow} and the OpenAPI document.
 */
interface Declared {
  /** Its schema. */
  body?: unknown
  parse?: unknown
  allowed?: Allowed
  tokenScope?: RouteScope
  objectKind?: ObjectKind
  isForProjects?: boolean
}

/**
 * `allow` on a route: see {@link Allowed}. `scope` says which scope lets an API token call a route for signed-in people:
 * see {@link RouteScope}. {@link requireAllow} rejects a route without them. `object` says that a route reads or changes an
 * object that people change: its `GET` has the version, and the others take `If-Match`. `forProjects` says that tokens which are
 * limited to a project may call it; they may call nothing else.
 */
export const access = () =>
  new Elysia({ name: 'access' })
    .use(requestState())
    .use(bodies())
    .macro({
      scope: (scope: RouteScope) => ({
        introspect: (route: Declared) => {
          route.tokenScope = scope
        },
      }),
      forProjects: (isFor: boolean) => ({
        introspect: (route: Declared) => {
          route.isForProjects = isFor
        },
      }),
      object: (kind: ObjectKind) => ({
        introspect: (route: Declared) => {
          route.objectKind = kind
        },
        transform: plainHook((call: object) => readVersion(call as ObjectCall, kind)),
      }),
      allow: (allowed: Allowed) => {
        // Its scope may be declared after `allow`.
        let declared: Declared | undefined
        const check = allowed === 'anyone' ? undefined : checkOf(allowed, () => declared)
        return {
          introspect: (route: Declared) => {
            declared = route
            route.allowed = allowed
            if (route.parse === 'report' && route.body) route.parse = jsonParser(route.body as TSchema)
            // Parsers run first: without this, issues of the body would be reported to callers who may not call the
            // route.
            if (check && route.parse && route.parse !== 'none') route.parse = [check, route.parse].flat()
          },
          ...(check && {
            transform: [
              plainEffect((call: Call) => {
                check(call)
                call.allowed = check
              }),
              plainEffect((call: object) => restoreBrackets(call as QueryCall)),
            ],
          }),
          // Recording usage pays nothing for what only readers need.
          ...(mayRead(allowed) && { mapResponse: readResponse }),
        }
      },
    })

/** The part of a request's context that versions are read from. */
interface ObjectCall {
  request: Request
  params: { id?: string }
  caller: Caller | null
  version: string
  versions: VersionReader | null
}

/**
 * Notes the version of the object that is read, before it is read, or the version that a change requires. The address may
 * have a name instead of the id: then the object has no version, because its id is known only once it is read.
 */
async function readVersion(call: ObjectCall, kind: ObjectKind): Promise<void> {
  const { request, caller } = call
  if (!caller) return
  const objectId = objectIdOf(kind, call.params?.id, caller)
  if (request.method === 'GET' || request.method === 'HEAD') {
    call.version = objectId === undefined ? '' : ((await call.versions?.(objectId)) ?? '')
    return
  }
  const versions = matchedVersions(request)
  if (!versions) return
  call.caller = { ...caller, precondition: { kind, objectId, versions, isMet: false, metIn: new WeakSet() } }
}

function objectIdOf(kind: ObjectKind, id: string | undefined, { person }: Caller): string | undefined {
  if (isSingle(kind)) return kind
  if (kind === 'usr' && id === undefined) return person.uid
  return id !== undefined && isId(kind, id) ? id : undefined
}

function isSingle(kind: ObjectKind): kind is (typeof SINGLE_KINDS)[number] {
  return (SINGLE_KINDS as readonly ObjectKind[]).includes(kind)
}

/** Whether a route is for more than agents, which only report. */
function mayRead(allowed: Allowed): boolean {
  return allowed === 'anyone' || demandsOf(allowed).some(([kind]) => kind === 'read' || kind === 'session')
}

function checkOf(allowed: Demand, declared: () => Declared | undefined): AllowCheck {
  const rolesByKind = new Map(demandsOf(allowed))
  const kinds = [...rolesByKind.keys()]
  return ({ caller: sent }) => {
    // What a signed-in person may call, their API tokens may as far as their scopes reach.
    const isApi = sent?.kind === 'api' && rolesByKind.has('session')
    if (isApi) requireScope(sent, scopesOfRoute(declared()?.tokenScope))
    const caller = isApi ? sent : requireCaller(sent, kinds)
    const roles = isApi
      ? rolesOfPrograms(rolesByKind.get('session'))
      : (rolesByKind.get(caller.kind) ?? usualRoles(caller.kind))
    if (!roles.includes(caller.person.role)) throw wrongRole(roles, caller)
    const limit = limitOf(caller)
    if (limit && !declared()?.isForProjects) throw beyondProject(limit)
  }
}

/** Whether a caller may call what is declared so; what its input and its objects require is for the route to say. */
export function isAllowed(
  { allow, scope, forProjects }: { allow: Allowed; scope?: RouteScope | undefined; forProjects?: boolean | undefined },
  caller: Caller,
): boolean {
  if (allow === 'anyone') return true
  const declared = { ...(scope && { tokenScope: scope }), isForProjects: forProjects ?? false }
  try {
    checkOf(allow, () => declared)({ caller })
    return true
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}

const limitOf = (caller: Caller): TokenLimit | null => (caller.kind === 'session' ? null : caller.token.limit)

export function beyondProject({ project }: TokenLimit): Problem {
  return new Problem(
    'forbidden',
    `This token is limited to the project ${project}: it may only report its entries, or read its receipts. Use a token that a person created.`,
  )
}

/** Organization tokens belong to the organization, whatever becomes of the person who created them. */
function usualRoles(kind: CallerKind): readonly Role[] {
  return kind === 'organization' ? ROLES : STAFF_ROLES
}

/** Viewers have no tokens. */
function rolesOfPrograms(roles: readonly Role[] = STAFF_ROLES): readonly Role[] {
  return roles.filter((role) => role !== 'viewer')
}

/** The accepted kinds of credentials, each with the required roles; undefined if any role but viewer is enough. */
function demandsOf(allowed: Demand): [CallerKind, readonly Role[] | undefined][] {
  if (Array.isArray(allowed)) return allowed.map((kind) => [kind, undefined])
  return Object.entries(allowed) as [CallerKind, readonly Role[]][]
}

/** Throws `forbidden` unless the token has one of the scopes; without any, only people may do this. */
function requireScope({ token }: CallerOf<'api'>, scopes: readonly Scope[] | undefined): void {
  if (!scopes) {
    throw new Problem('forbidden', 'This request needs a signed-in person; no scope lets an API token make it.')
  }
  if (scopes.some((scope) => includesScope(token.scopes ?? [], scope))) return
  throw new Problem(
    'forbidden',
    `This request needs an API token with the scope ${either(scopes)}; the token '${token.name}' has ${(token.scopes ?? []).join(', ') || 'none'}. Create one with that scope.`,
  )
}

const networkTests = new WeakMap<readonly string[], (address: string) => boolean>()

/** Throws `forbidden` for an API token that is used from an address outside of its networks. */
export function requireNetwork({ token }: CallerOf<'api'>, address: string): void {
  if (!token.networks) return
  const isWithin = networkTests.get(token.networks) ?? networkTest(token.networks)
  networkTests.set(token.networks, isWithin)
  if (isWithin(address)) return
  throw new Problem('forbidden', `The token '${token.name}' does not work from the address ${address}.`)
}

/** Whether the caller's API token has a scope. Nobody else needs one, but a token that is limited to a project has none. */
export function hasScope(caller: Caller, scope: Scope): boolean {
  if (limitOf(caller)) return false
  return caller.kind !== 'api' || includesScope(caller.token.scopes ?? [], scope)
}

/** For a route whose scope depends on the body. Throws `forbidden` for an API token without it. */
export function requireTokenScope(sent: Caller | null, scope: Scope): void {
  if (sent?.kind === 'api') requireScope(sent, [scope])
}

/**
 * The alternatives as an OpenAPI security list, which cannot express that one of several roles is enough. An API token
 * needs a scope and a role.
 */
export function securityOf({ allowed = 'anyone', tokenScope }: GuardedRoute['hooks']): Record<string, string[]>[] {
  if (allowed === 'anyone') return []
  const demands = demandsOf(allowed)
  const session = demands.find(([kind]) => kind === 'session')
  const scopes = session && (tokenScope === 'any' ? [undefined] : scopesOfRoute(tokenScope))
  const needed = rolesOfPrograms(session?.[1])
  const apiRoles = needed.length < STAFF_ROLES.length ? needed : undefined
  return [
    ...demands.flatMap(([kind, roles]) => alternatives(SECURITY_SCHEMES[kind], roles)),
    ...(scopes ?? []).flatMap((scope) =>
      alternatives(SECURITY_SCHEMES.api, apiRoles).map(({ [SECURITY_SCHEMES.api]: roles = [] }) => ({
        [SECURITY_SCHEMES.api]: scope ? [scope, ...roles] : roles,
      })),
    ),
  ]
}

function alternatives(scheme: string, roles: readonly Role[] | undefined): Record<string, string[]>[] {
  return roles ? roles.map((role) => ({ [scheme]: [role] })) : [{ [scheme]: [] }]
}

/** A route of the whole application, with its declared `allow`. */
export interface GuardedRoute {
  method: string
  path: string
  hooks: { allowed?: Allowed; tokenScope?: RouteScope; objectKind?: ObjectKind }
}

/**
 * Throws for routes that don't declare who may call them: without `allow`, a route would be open to everyone. Those for
 * signed-in people say which scope lets an API token call them.
 */
export function requireAllow(routes: readonly GuardedRoute[]): void {
  const open = routes.filter(({ hooks }) => hooks.allowed === undefined)
  if (open.length > 0) {
    throw new Error(
      `These routes don't declare who may call them: ${namesOf(open)}. Add \`allow\`, such as allow: 'anyone'.`,
    )
  }
  const unscoped = routes.filter(({ hooks }) => isForPeople(hooks.allowed!) !== (hooks.tokenScope !== undefined))
  if (unscoped.length > 0) {
    throw new Error(
      `These routes are for signed-in people without a scope for API tokens, or the reverse: ${namesOf(unscoped)}. Add \`scope\`, such as scope: 'people-only'.`,
    )
  }
}

function isForPeople(allowed: Allowed): boolean {
  return allowed !== 'anyone' && demandsOf(allowed).some(([kind]) => kind === 'session')
}

function namesOf(routes: readonly GuardedRoute[]): string {
  return routes.map(({ method, path }) => `${method} ${path}`).join(', ')
}

/** The caller of a route that requires one of these kinds of credentials, which the returned type reflects. */
export function requireCaller<Kind extends CallerKind = CallerKind>(
  caller: Caller | null,
  kinds?: readonly Kind[],
): CallerOf<Kind> {
  if (!caller) throw noCredential()
  if (kinds && !(kinds as readonly CallerKind[]).includes(caller.kind)) throw wrongKind(kinds, caller.kind)
  return caller as CallerOf<Kind>
}

/** What the caller may see; see `access/visibility.ts`. */
export function viewerOf(caller: Caller | null): Viewer {
  const known = requireCaller(caller)
  return limitedViewer(known) ?? withFees(known, viewerOfPerson(known.person))
}

/** Of a caller whose token is limited to a project, whatever its person sees. */
function limitedViewer(caller: Caller): Viewer | undefined {
  const limit = limitOf(caller)
  return limit ? grantedViewer([limit.projectId]) : undefined
}

function withFees(caller: Caller, viewer: Viewer): Viewer {
  return hasScope(caller, 'plans:read') ? viewer : withoutFees(viewer)
}

/** What the caller may see in lists of entries and sheets, which include what they may approve. */
export function approvalViewerOf(caller: Caller | null): Viewer {
  const known = requireCaller(caller)
  return limitedViewer(known) ?? withFees(known, approvalViewerOfPerson(known.person))
}

/** The caller as somebody who filters by names; see `access/asker.ts`. */
export function askerOf(caller: Caller | null): Asker {
  const known = requireCaller(caller)
  const readsPeople = (known.kind === 'session' || known.kind === 'api') && hasScope(known, 'people:read')
  const { person } = known
  return { viewer: approvalViewerOf(caller), listsPeople: readsPeople && person.role === 'admin', self: person }
}

/** The part of a handler's context that describes the call, from `requestState`. */
interface Call {
  request: Request
  caller: Caller | null
  authenticate: Authenticate | null
  allowed: AllowCheck | null
  address: () => string
}

/**
 * The caller once more, as the credential, the person and the route's `allow` are now. Whatever lasts longer than one read
 * asks before each further one. Throws like the first check: `unauthenticated` after a revocation, `forbidden` if the role
 * or the scopes do not suffice any more.
 */
export async function renewedCaller({ request, authenticate, allowed, address }: Call): Promise<Caller> {
  const caller = await authenticate!(request, address())
  allowed?.({ caller })
  return caller
}

/** The caller as the actor of a change. */
function actorOf({ caller: sent, address }: Pick<Call, 'caller' | 'address'>): Actor {
  const caller = requireCaller(sent)
  return {
    userId: caller.person.id,
    tokenId: caller.kind === 'session' ? null : caller.token.id,
    origin: address(),
    precondition: caller.precondition,
  }
}

/** The caller as the requesting party, for checks beyond a route's `allow`. */
export function partyOf(call: Pick<Call, 'caller' | 'address'>): Party {
  return { viewer: viewerOf(call.caller), person: requireCaller(call.caller).person, by: actorOf(call) }
}

/** The caller as the party that decides about entries and sheets. */
export function approverOf(call: Pick<Call, 'caller' | 'address'>): Party {
  return { ...partyOf(call), viewer: approvalViewerOf(call.caller) }
}

export function noCredential(): Problem {
  return new Problem(
    'unauthenticated',
    'Send a token: Authorization: Bearer tally_svc_… (or _read_, _org_, _api_). Create one with `tally tokens create`, or sign in.',
  )
}
