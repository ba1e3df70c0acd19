import type { CallerOf, Person, TokenLimit } from '../../../access/caller.ts'
import { type Role, TOKEN_KINDS, type TokenKind } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'

export { TOKEN_KINDS }

/** A listed token: everything but its secret, which is not stored. */
export interface Token {
  id: number
  uid: Id<'tok'>
  kind: TokenKind
  name: string
  /** The first characters of the secret's random part, to recognize it. */
  hint: string
  allowBills: boolean
  /** What an API token may do; null for other kinds. */
  scopes: string[] | null
  /** Addresses and networks from which an API token works; null for any. */
  networks: string[] | null
  createdAt: number
  /** Null for a token that does not expire. */
  expiresAt: number | null
  /** To the minute; null for an unused token. */
  lastUsedAt: number | null
  revokedAt: number | null
  creator: Person & { disabledAt: number | null }
}

/** `stopped`: its creator is disabled. Organization tokens belong to the organization and keep working. */
export const TOKEN_STATES = ['usable', 'revoked', 'expired', 'stopped'] as const
export type TokenState = (typeof TOKEN_STATES)[number]

export function stateOfToken(
  { kind, expiresAt, revokedAt, creator }: Pick<Token, 'kind' | 'expiresAt' | 'revokedAt' | 'creator'>,
  now: number,
): TokenState {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return creator.disabledAt !== null && kind !== 'org' ? 'stopped' : 'usable'
}

/** Roles that can create organization tokens. */
export const MAY_MAKE_ORGANIZATION_TOKENS: readonly Role[] = ['admin']

/** Roles that can send bills, and allow a service token to send them. */
export const MAY_SEND_BILLS: readonly Role[] = ['billing', 'admin']

const CALLER_KINDS = { svc: 'service', read: 'read', org: 'organization', api: 'api' } as const

export type TokenCaller = CallerOf<(typeof CALLER_KINDS)[TokenKind]>

export function callerOf({ kind, creator, ...token }: Token, limit: TokenLimit | null = null): TokenCaller {
  const { id, uid, name, hint, allowBills, expiresAt, scopes, networks } = token
  return {
    kind: CALLER_KINDS[kind],
    token: { id, uid, name, hint, allowBills, expiresAt, scopes, networks, limit },
    person: { id: creator.id, uid: creator.uid, email: creator.email, name: creator.name, role: creator.role },
  }
}

/** The tokens that a caller can see and revoke: everyone's, or those of the person with this key. */
export type TokenScope = { ownerId: number | undefined }

export const EVERYBODYS_TOKENS: TokenScope = { ownerId: undefined }

export function tokensSeenBy({ id, role }: Pick<Person, 'id' | 'role'>): TokenScope {
  return role === 'admin' ? EVERYBODYS_TOKENS : { ownerId: id }
}
