/** What an API token may be: its scopes, its lifetime, and the networks from which it works. Pure. */

import type { Role, TokenKind } from '../../../database/schema/values.ts'
import { type Issue, Problem, refusal } from '../../../errors.ts'
import { isNetwork } from '../../../lib/network.ts'
import { isScope, rolesOfScope, SCOPE_NAMES } from '../../../shared/token-scopes.ts'
import type { Token } from './token.ts'

const DAY_MS = 86_400_000

export const API_TOKEN_LIFETIME_MS = 90 * DAY_MS

/** API tokens can do more than other tokens, so they always expire. */
const LIFETIME_LIMIT_MS = 366 * DAY_MS

/** More networks belong into a firewall. */
export const NETWORKS_LIMIT = 50

interface AskedToken {
  kind: TokenKind
  scopes?: string[] | undefined
  networks?: string[] | undefined
  expiresAt?: number | undefined
}

/** Every issue with the fields that only API tokens have. */
export function issuesOfApiToken(
  { kind, scopes = [], networks = [], expiresAt }: AskedToken,
  role: Role,
  now: number,
): Issue[] {
  if (kind !== 'api') {
    const message = 'is available only for API tokens'
    return [
      ...(scopes.length > 0 ? [{ pointer: '/scopes', code: 'not_allowed', message }] : []),
      ...(networks.length > 0 ? [{ pointer: '/networks', code: 'not_allowed', message }] : []),
    ]
  }
  const message = `must name at least one of ${SCOPE_NAMES.join(', ')}`
  return [
    ...(scopes.length === 0 ? [{ pointer: '/scopes', code: 'required', message }] : []),
    ...scopes.flatMap((scope, index) => issuesOfScope(scope, role, `/scopes/${index}`)),
    ...networks.flatMap((network, index) => issuesOfNetwork(network, `/networks/${index}`)),
    ...(networks.length > NETWORKS_LIMIT
      ? [{ pointer: '/networks', code: 'too_many', message: `must have at most ${NETWORKS_LIMIT}` }]
      : []),
    ...(expiresAt !== undefined && expiresAt > now + LIFETIME_LIMIT_MS
      ? [{ pointer: '/expires_at', code: 'too_large', message: 'must be within 366 days' }]
      : []),
  ]
}

function issuesOfScope(scope: string, role: Role, pointer: string): Issue[] {
  if (!isScope(scope)) {
    return [{ pointer, code: 'not_allowed', message: `must be one of ${SCOPE_NAMES.join(', ')}` }]
  }
  const roles = rolesOfScope(scope)
  if (!roles || roles.includes(role)) return []
  return [{ pointer, code: 'not_allowed', message: `needs the role ${roles.join(' or ')}; the owner has ${role}` }]
}

function issuesOfNetwork(network: string, pointer: string): Issue[] {
  const message = 'must be an IP address, or a network such as 10.0.0.0/8 or 2001:db8::/32'
  return isNetwork(network) ? [] : [{ pointer, code: 'bad_format', message }]
}

export function apiTokensOff(): Problem {
  return new Problem(
    'forbidden',
    'API tokens are turned off. An admin can turn them on in the settings, or with `tally settings set --api-tokens yes`.',
  )
}

export function notRotatable({ kind, name }: Token): Problem {
  return refusal(
    '',
    'not_allowed',
    `the token '${name}' ${kind === 'api' ? 'no longer works' : 'is no API token'}: create a new one`,
  )
}

/** Its lifetime is now that of the overlap, which is not what a replacement should have. */
export function alreadyRotated({ name }: Token, replacedBy: string): Problem {
  return new Problem(
    'wrong_status',
    `The token '${name}' was already rotated and replaced by ${replacedBy}. Rotate that one, or create a new token.`,
  )
}
