/** Creates, lists and revokes tokens. */

import type { Actor } from '../../../access/actor.ts'
import type { Database, Tx } from '../../../database/database.ts'
import { type Role, TOKEN_KINDS, type TokenKind } from '../../../database/schema/values.ts'
import { pageAfter } from '../../../database/sorting.ts'
import { Problem, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { timestampOrNull } from '../../../lib/duration.ts'
import { isId } from '../../../lib/id.ts'
import { composeName } from '../../../lib/names.ts'
import { issuesOfName } from '../../../schema/fields.ts'
import type { Rows } from '../../../schema/lists.ts'
import type { PageRequest } from '../../../schema/query.ts'
import type { AuditService } from '../../audit/service.ts'
import type { OrganizationService } from '../../organization/service.ts'
import type { TOKEN_SORTS } from '../sorts.ts'
import {
  findTokenByUid,
  insertToken,
  listTokens,
  TOKEN_KEYS,
  type TokenFilter,
  updateTokenExpiry,
  updateTokenRevoked,
} from '../store/tokens.ts'
import type { User } from '../store/users.ts'
import { getAccount } from '../users/users.ts'
import { issuesOfViewer } from '../viewers/role.ts'
import { API_TOKEN_LIFETIME_MS, alreadyRotated, apiTokensOff, issuesOfApiToken, notRotatable } from './api-token.ts'
import { hashOfSecret, hintOfSecret, newSecret } from './secret.ts'
import {
  MAY_MAKE_ORGANIZATION_TOKENS,
  MAY_SEND_BILLS,
  stateOfToken,
  type Token,
  type TokenScope,
  type TokenState,
} from './token.ts'

export interface NewToken {
  kind: TokenKind
  /** The e-mail address or id of the person who owns it; entries reported with a service token are theirs. */
  user: string
  name: string
  /** Milliseconds since 1970; without it the token does not expire. */
  expiresAt?: number | undefined
  /** Lets a service token send bills as well, as long as its creator's role may. */
  allowBills?: boolean | undefined
  /** What an API token may do. */
  scopes?: string[] | undefined
  /** Addresses and networks, such as `10.0.0.0/8`, from which an API token works; any by default. */
  networks?: string[] | undefined
}

/** A new token, with its secret, which is shown once. */
export interface MadeToken {
  token: Token
  secret: string
}

/** A token and its current state. */
export interface ListedToken {
  token: Token
  state: TokenState
}

/** The same for a token that does not exist and for another person's. */
function unknownToken(uid: string): Problem {
  return new Problem(
    'not_found',
    `The token '${uid}' was not found. \`tally tokens list --all\` lists all tokens with their ids (tok_…).`,
  )
}

function refusedRole(user: User, what: string, roles: readonly Role[]): Problem {
  return new Problem(
    'forbidden',
    `${what} requires the role ${roles.join(' or ')}; ${user.email} has the role ${user.role}.`,
  )
}

/** The audit log record of a token, without the token or its hash. */
function auditedToken({ kind, name, hint, allowBills, scopes, networks, expiresAt, creator }: Token) {
  return {
    kind,
    name,
    hint,
    user: creator.email,
    allow_bills: allowBills,
    ...(scopes && { scopes, networks }),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  }
}

export interface TokensDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: Pick<OrganizationService, 'settings'>
}

export function createTokens({ db, clock, audit, organization }: TokensDependencies) {
  async function list(filter: TokenFilter, page?: PageRequest<keyof typeof TOKEN_SORTS>) {
    const now = clock.now()
    const tokens = await listTokens(page?.by ? db.slow : db.read, filter, now, page)
    return tokens.map((token): ListedToken => ({ token, state: stateOfToken(token, now) }))
  }

  async function create(tx: Tx, given: NewToken, by: Actor): Promise<MadeToken> {
    const { kind, user: who, name: givenName, allowBills = false, scopes, networks } = given
    const user = await getAccount(tx, who)
    const name = composeName(givenName)
    const now = clock.now()
    const expiresAt = given.expiresAt ?? (kind === 'api' ? now + API_TOKEN_LIFETIME_MS : undefined)
    const issues = [
      ...(TOKEN_KINDS.includes(kind)
        ? []
        : [{ pointer: '/kind', code: 'not_allowed', message: `must be one of ${TOKEN_KINDS.join(', ')}` }]),
      ...issuesOfName(name, '/name'),
      ...issuesOfApiToken(given, user.role, now),
      ...(expiresAt === undefined || expiresAt > now
        ? []
        : [{ pointer: '/expires_at', code: 'too_small', message: 'must be in the future' }]),
      ...(allowBills && kind !== 'svc'
        ? [{ pointer: '/allow', code: 'not_allowed', message: 'is available only for service tokens' }]
        : []),
      ...(user.disabledAt === null
        ? []
        : [
            {
              pointer: '/user',
              code: 'not_allowed',
              message: `${user.email} is disabled; enable them with \`tally users enable\` first`,
            },
          ]),
    ]
    issues.push(...issuesOfViewer(user, '/user', 'cannot have tokens'))
    if (issues.length > 0) throw validationFailed(issues)
    if (kind === 'org' && !MAY_MAKE_ORGANIZATION_TOKENS.includes(user.role)) {
      throw refusedRole(user, 'Creating an organization token', MAY_MAKE_ORGANIZATION_TOKENS)
    }
    if (allowBills && !MAY_SEND_BILLS.includes(user.role)) {
      throw refusedRole(user, 'Creating a token that may send bills', MAY_SEND_BILLS)
    }
    if (kind === 'api' && !(await organization.settings(tx)).apiTokens) throw apiTokensOff()
    const secret = newSecret(kind)
    const token = await insertToken(tx, {
      kind,
      name,
      hash: hashOfSecret(secret),
      hint: hintOfSecret(secret),
      createdBy: user.id,
      allowBills,
      scopes: kind === 'api' ? [...new Set(scopes)] : null,
      networks: kind === 'api' && networks?.length ? networks : null,
      expiresAt: expiresAt ?? null,
      now,
    })
    const object = { id: token.uid, name }
    await audit.record(tx, by, { action: 'token.created', object, after: auditedToken(token) })
    return { token, secret }
  }

  return {
    /**
     * Creates a token. `secret` is the token itself: shown once, never stored. Throws `forbidden` if the person's role
     * may not have such a token.
     */
    createToken: (token: NewToken, by: Actor): Promise<MadeToken> => db.write((tx) => create(tx, token, by)),

    /**
     * Replaces a person's own API token by one with the same scopes, networks and lifetime. The old one works for
     * `overlapMs` more, so that programs can be switched over. Throws `not_found`, `validation_failed` for a token of
     * another kind, or one that no longer works, and `wrong_status` for one that was rotated already.
     */
    rotateToken: ({ ownerId }: TokenScope, uid: string, overlapMs: number, by: Actor): Promise<MadeToken> =>
      db.write(async (tx) => {
        const old = isId('tok', uid) ? await findTokenByUid(tx, uid) : undefined
        if (!old || (ownerId !== undefined && old.creator.id !== ownerId)) throw unknownToken(uid)
        const now = clock.now()
        if (old.kind !== 'api' || stateOfToken(old, now) !== 'usable') throw notRotatable(old)
        const rotation = await audit.findLatest(old.uid, ['token.rotated'], tx)
        if (rotation) throw alreadyRotated(old, String(rotation.after?.replaced_by))
        const made = await create(
          tx,
          {
            kind: 'api',
            user: old.creator.uid,
            name: old.name,
            expiresAt: now + (old.expiresAt! - old.createdAt),
            scopes: old.scopes ?? [],
            networks: old.networks ?? undefined,
          },
          by,
        )
        const endsAt = Math.min(old.expiresAt!, now + overlapMs)
        await updateTokenExpiry(tx, old.id, endsAt)
        await audit.record(tx, by, {
          action: 'token.rotated',
          object: { id: old.uid, name: old.name },
          before: { expires_at: timestampOrNull(old.expiresAt) },
          after: { expires_at: timestampOrNull(endsAt), replaced_by: made.token.uid },
        })
        return made
      }),

    /** The tokens in the scope, newest first. */
    tokenRows: ({
      ownerId,
    }: TokenScope): Rows<Omit<TokenFilter, 'ownerId'>, keyof typeof TOKEN_SORTS, ListedToken> => ({
      list: (filter, page) => list({ ...filter, ownerId }, page),
      all: (filter) => list({ ...filter, ownerId }),
      keyOf: ({ token }) => token.id,
      pageAfter: ({ token }, by) => pageAfter(TOKEN_KEYS, by, token, token.id),
    }),

    /** All tokens in the scope, newest first. */
    everyToken: ({ ownerId }: TokenScope, filter: Omit<TokenFilter, 'ownerId'> = {}): Promise<ListedToken[]> =>
      list({ ...filter, ownerId }),

    /** Throws `not_found`, also for a token outside of the scope. */
    async getToken({ ownerId }: TokenScope, uid: string): Promise<ListedToken> {
      const token = isId('tok', uid) ? await findTokenByUid(db.read, uid) : undefined
      if (!token || (ownerId !== undefined && token.creator.id !== ownerId)) throw unknownToken(uid)
      return { token, state: stateOfToken(token, clock.now()) }
    },

    /**
     * Takes effect at once, also in a running server. A token that is already revoked keeps its time. Throws
     * `not_found`, also for a token outside of the scope.
     */
    revokeToken: ({ ownerId }: TokenScope, uid: string, by: Actor): Promise<Token> =>
      db.write(async (tx) => {
        const token = isId('tok', uid) ? await findTokenByUid(tx, uid) : undefined
        if (!token || (ownerId !== undefined && token.creator.id !== ownerId)) throw unknownToken(uid)
        if (token.revokedAt !== null) return token
        const revokedAt = clock.now()
        await updateTokenRevoked(tx, token.id, revokedAt)
        const { hint, creator } = token
        await audit.record(tx, by, {
          action: 'token.revoked',
          object: { id: token.uid, name: token.name },
          before: { hint, user: creator.email },
        })
        return { ...token, revokedAt }
      }),
  }
}
