/**
 * Who may call what. Credentials are checked before a body is read (`http/requests.ts`); here each route names the
 * kinds of credential it takes, which the macro checks before parsing and validation. Both throw: Elysia's
 * ahead-of-time compilation may ignore a guard that returns its refusal.
 */
import { Elysia } from 'elysia'
import { Problem } from '../errors.ts'
import type { Caller } from '../features/people/service.ts'
import { bodies } from './body.ts'

export type CallerKind = Caller['kind']

const TOKEN_NAMES: Record<CallerKind, string> = {
  service: 'a service token (tally_svc_…)',
  read: 'a read token (tally_read_…)',
  organization: 'an organization token (tally_org_…)',
}

/** What the OpenAPI document calls the credentials. */
export const SECURITY_SCHEMES: Record<CallerKind, string> = {
  service: 'serviceToken',
  read: 'readToken',
  organization: 'organizationToken',
}

function wrongKind(needed: CallerKind[], sent: CallerKind): Problem {
  const names = needed.map((kind) => TOKEN_NAMES[kind]).join(' or ')
  return new Problem('forbidden', `This call needs ${names}, not ${TOKEN_NAMES[sent]}.`)
}

/** What a request carries from its first moment on. */
export const requestState = () =>
  new Elysia({ name: 'request-state' }).decorate({ caller: null as Caller | null, requestId: '' })

/** `{ allow: ['service'] }` on a route: these kinds of credential may call it. */
export const access = () =>
  new Elysia({ name: 'access' })
    .use(requestState())
    .use(bodies())
    .macro({
      allow: (kinds: CallerKind[]) => {
        const check = ({ caller }: { caller: Caller | null }) => {
          requireCaller(caller, kinds)
        }
        return {
          // For the OpenAPI document, so that it cannot say anything else than what is checked.
          detail: { security: kinds.map((kind) => ({ [SECURITY_SCHEMES[kind]]: [] })) },
          // Parsers run first: without this, whoever may not call at all would be told of faults in the body.
          introspect: (route: { body?: unknown; parse?: unknown }) => {
            if (route.parse) route.parse = [check, route.parse].flat()
          },
          transform: check,
        }
      },
    })

/** The caller of a route that demands one. */
export function requireCaller(caller: Caller | null, kinds?: CallerKind[]): Caller {
  if (!caller) throw noCredential()
  if (kinds && !kinds.includes(caller.kind)) throw wrongKind(kinds, caller.kind)
  return caller
}

export function noCredential(): Problem {
  return new Problem(
    'unauthenticated',
    'Send a token: Authorization: Bearer tally_svc_… (or _read_, _org_). `tally tokens create` makes one.',
  )
}
