/**
 * Who may call what. Credentials are checked before a body is read (`http/requests.ts`); here each route names the
 * kinds of credential it takes, which the macro checks before parsing and validation. Both throw: Elysia's
 * ahead-of-time compilation may ignore a guard that returns its refusal.
 */
import { Elysia } from 'elysia'
import type { Actor, Party } from '../access/actor.ts'
import type { Caller, CallerKind, CallerOf, Person } from '../access/caller.ts'
import { type Viewer, viewerOf as viewerOfPerson } from '../access/visibility.ts'
import { Problem } from '../errors.ts'
import { bodies } from './body.ts'

type Role = Person['role']

/**
 * Who may call a route: these kinds of credential, whatever the role of the person behind it; or, by kind of
 * credential, the roles of which the person must have one.
 *
 * ```ts
 * allow: ['read', 'session']
 * allow: { session: ['billing', 'admin'] }
 * ```
 */
export type Allowed = readonly CallerKind[] | { readonly [Kind in CallerKind]?: readonly Role[] }

const CREDENTIALS: Record<CallerKind, string> = {
  service: 'a service token (tally_svc_…)',
  read: 'a read token (tally_read_…)',
  organization: 'an organization token (tally_org_…)',
  session: 'a signed-in person',
}

/** Names of the security schemes in the OpenAPI document. */
export const SECURITY_SCHEMES: Record<CallerKind, string> = {
  service: 'serviceToken',
  read: 'readToken',
  organization: 'organizationToken',
  session: 'session',
}

/** Its name without TLS. */
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

/** Context of every request: the caller, the client address, and the request id. */
export const requestState = () =>
  new Elysia({ name: 'request-state' }).decorate({
    caller: null as Caller | null,
    address: (() => 'unknown') as () => string,
    requestId: '',
  })

/** `allow` on a route, without which nobody is refused there: see {@link Allowed}. */
export const access = () =>
  new Elysia({ name: 'access' })
    .use(requestState())
    .use(bodies())
    .macro({
      allow: (allowed: Allowed) => {
        const rolesByKind = new Map(demandsOf(allowed))
        const kinds = [...rolesByKind.keys()]
        const check = ({ caller: sent }: { caller: Caller | null }) => {
          const caller = requireCaller(sent, kinds)
          const roles = rolesByKind.get(caller.kind)
          if (roles && !roles.includes(caller.person.role)) throw wrongRole(roles, caller)
        }
        return {
          // For the OpenAPI document, so that it cannot say anything else than what is checked.
          detail: { security: securityOf(allowed) },
          // Parsers run first: without this, whoever may not call at all would be told of issues in the body.
          introspect: (route: { body?: unknown; parse?: unknown }) => {
            if (route.parse && route.parse !== 'none') route.parse = [check, route.parse].flat()
          },
          transform: check,
        }
      },
    })

/** The kinds of credential, each with the roles that it needs; undefined where any will do. */
function demandsOf(allowed: Allowed): [CallerKind, readonly Role[] | undefined][] {
  if (Array.isArray(allowed)) return allowed.map((kind) => [kind, undefined])
  return Object.entries(allowed) as [CallerKind, readonly Role[]][]
}

/** Alternatives, as OpenAPI understands the list; it has no other way to say that one of several roles is enough. */
function securityOf(allowed: Allowed): Record<string, string[]>[] {
  return demandsOf(allowed).flatMap(([kind, roles]) => {
    const scheme = SECURITY_SCHEMES[kind]
    return roles ? roles.map((role) => ({ [scheme]: [role] })) : [{ [scheme]: [] }]
  })
}

/** The caller of a route that demands one; of the kinds named, which the type then says as well. */
export function requireCaller<Kind extends CallerKind = CallerKind>(
  caller: Caller | null,
  kinds?: readonly Kind[],
): CallerOf<Kind> {
  if (!caller) throw noCredential()
  if (kinds && !(kinds as readonly CallerKind[]).includes(caller.kind)) throw wrongKind(kinds, caller.kind)
  return caller as CallerOf<Kind>
}

/** What the caller may see; see `database/visibility.ts`. */
export function viewerOf(caller: Caller | null): Viewer {
  return viewerOfPerson(requireCaller(caller).person)
}

/** What a handler's context knows of the call, of `requestState`. */
interface Call {
  caller: Caller | null
  address: () => string
}

/** The caller as the actor of a change. */
export function actorOf({ caller: sent, address }: Call): Actor {
  const caller = requireCaller(sent)
  return {
    userId: caller.person.id,
    tokenId: caller.kind === 'session' ? null : caller.token.id,
    origin: address(),
  }
}

/** The caller as the one who asks, where rights go beyond what a route's `allow` says. */
export function partyOf(call: Call): Party {
  return { viewer: viewerOf(call.caller), person: requireCaller(call.caller).person, by: actorOf(call) }
}

export function noCredential(): Problem {
  return new Problem(
    'unauthenticated',
    'Send a token: Authorization: Bearer tally_svc_… (or _read_, _org_). Create one with `tally tokens create`, or sign in.',
  )
}
