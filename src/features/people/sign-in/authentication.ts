/** Resolves an `Authorization` header to the caller, for every request. */
import type { CallerOf, Principal } from '../../../access/caller.ts'
import { Cached } from '../../../database/cached.ts'
import type { Database, Reader } from '../../../database/database.ts'
import { Problem } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { OrganizationService } from '../../organization/service.ts'
import {
  findExchangedToken,
  findTokenByHash,
  findTokenById,
  listUsableTokens,
  updateTokenLastUsed,
} from '../store/tokens.ts'
import { findUserById } from '../store/users.ts'
import { hashOfSecret, hexHashOfSecret, issueOfSecret } from '../tokens/secret.ts'
import { callerOf, stateOfToken, type Token, type TokenCaller, type TokenState } from '../tokens/token.ts'
import { LastUses, minuteOf } from './last-uses.ts'

/** About 6 MB, read in about 20 ms after a change. Callers with older tokens cost one lookup each. */
const HELD_TOKENS = 10_000

/** RFC 9110, 11.1: the scheme's case does not matter. */
const BEARER = /^bearer +(\S+) *$/i

interface HeldToken {
  caller: TokenCaller
  expiresAt: number
  /** The minute last recorded, so that only one call per minute records it. */
  usedAt: number
}

/** A person, or one of their API tokens. */
export interface PrincipalKeys {
  userId: number
  tokenId: number | null
}

/** Whose rights they are, and why they are not valid any more: `stopped` if the person is disabled, `off` if API tokens are. */
export interface Standing {
  principal: Principal
  state: TokenState | 'off'
}

function refused(detail: string): Problem {
  return new Problem('unauthenticated', detail)
}

function refusedToken(token: Token, state: Exclude<Standing['state'], 'usable'>): Problem {
  const name = `The token '${token.name}' (${token.hint}…)`
  if (state === 'off') {
    return refused(`The token '${token.name}' does not work because API tokens are turned off in the settings.`)
  }
  if (state === 'stopped') {
    return refused(
      `${name} does not work because its creator, ${token.creator.name}, is disabled. Ask an admin to enable them.`,
    )
  }
  const at = new Date((state === 'revoked' ? token.revokedAt : token.expiresAt)!).toISOString()
  return refused(
    `${name} ${state === 'revoked' ? 'was revoked' : 'expired'} at ${at}. Create a new one with \`tally tokens create\`.`,
  )
}

const REFUSED_OF_TRUST = {
  revoked: 'the trust was removed',
  expired: 'it has expired; exchange a new ID token',
  stopped: 'its person is disabled',
}

const refusedOfTrust = ({ name }: Token, reason: string) =>
  refused(`The token of the trust '${name}' does not work: ${reason}.`)

/** The secret in the header, if its checksum is correct. */
function secretOf(authorization: string): string {
  const secret = BEARER.exec(authorization)?.[1]
  if (secret === undefined) {
    throw refused('The Authorization header must be `Bearer` followed by a token: Authorization: Bearer tally_svc_…')
  }
  const issue = issueOfSecret(secret)
  if (issue === 'foreign') {
    throw refused(
      'This is not a Tally token. Tally tokens start with tally_svc_, tally_read_, tally_org_ or tally_api_.',
    )
  }
  if (issue === 'mistyped')
    throw refused('The token is mistyped or incomplete: its checksum does not match. Copy the whole token again.')
  return secret
}

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
}

export function createAuthentication({ db, clock, organization }: Dependencies) {
  const heldTokens = new Cached(async (reader) => {
    const { apiTokens } = await organization.settings(reader)
    const usable = await listUsableTokens(reader, { now: clock.now(), limit: HELD_TOKENS })
    const tokens = apiTokens ? usable : usable.filter(({ kind }) => kind !== 'api')
    return new Map<string, HeldToken>(
      tokens.map(({ hash, ...token }) => [
        Buffer.from(hash).toString('hex'),
        { caller: callerOf(token), expiresAt: token.expiresAt ?? Number.POSITIVE_INFINITY, usedAt: 0 },
      ]),
    )
  })
  const uses = new LastUses(db, updateTokenLastUsed)

  function admit(held: Map<string, HeldToken>, secret: string): TokenCaller | Promise<TokenCaller> {
    const token = held.get(hexHashOfSecret(secret))
    const now = clock.now()
    if (!token || token.expiresAt <= now) return lookUp(secret)
    const minute = minuteOf(now)
    if (token.usedAt !== minute) {
      token.usedAt = minute
      uses.note(token.caller.token.id, minute)
    }
    return token.caller
  }

  /** For tokens that are not cached, and to determine why one is refused. */
  async function lookUp(secret: string): Promise<TokenCaller> {
    const hash = hashOfSecret(secret)
    const token = await findTokenByHash(db.read, hash)
    if (!token) return lookUpExchanged(hash)
    const state = await stateNow(token, db.read)
    if (state !== 'usable') throw refusedToken(token, state)
    uses.note(token.id, minuteOf(clock.now()))
    return callerOf(token)
  }

  /** The secrets that jobs get by a trust live for minutes, so none is cached. */
  async function lookUpExchanged(hash: Uint8Array): Promise<TokenCaller> {
    const token = await findExchangedToken(db.read, hash)
    if (!token)
      throw refused('Unknown token. Was it created on another Tally server, or in another data folder (TALLY_DATA)?')
    const { project, trust } = token
    const state = stateOfToken(token, clock.now())
    if (state !== 'usable') throw refusedOfTrust(token, REFUSED_OF_TRUST[state])
    if (project.archivedAt !== null) throw refusedOfTrust(token, `its project ${project.key} is archived`)
    uses.note(token.id, minuteOf(clock.now()))
    return callerOf(token, { projectId: project.id, project: project.key, trust })
  }

  async function stateNow(token: Token, reader: Reader): Promise<Standing['state']> {
    const state = stateOfToken(token, clock.now())
    if (state !== 'usable' || token.kind !== 'api') return state
    return (await organization.settings(reader)).apiTokens ? 'usable' : 'off'
  }

  return {
    /** A person, or one of their API tokens, as they are now: for what lasts longer than requests. */
    async standing({ userId, tokenId }: PrincipalKeys, reader: Reader): Promise<Standing> {
      if (tokenId === null) {
        const { disabledAt, id, uid, email, name, role } = (await findUserById(reader, userId))!
        const principal = { kind: 'session', person: { id, uid, email, name, role } } as const
        return { principal, state: disabledAt === null ? 'usable' : 'stopped' }
      }
      const token = (await findTokenById(reader, tokenId))!
      return { principal: callerOf(token) as CallerOf<'api'>, state: await stateNow(token, reader) }
    },

    /**
     * The caller of an `Authorization` header. Throws `unauthenticated` with the reason. Synchronous if the token is
     * cached and the revision is available (SQLite), since this runs before every request.
     */
    authenticate(authorization: string): TokenCaller | Promise<TokenCaller> {
      const secret = secretOf(authorization)
      const held = heldTokens.get(db.read)
      return held instanceof Promise ? held.then((tokens) => admit(tokens, secret)) : admit(held, secret)
    },

    /** Saves when tokens were last used, to the minute. Times that can't be saved are kept for the next call. */
    flushTokenUses: () => uses.flush(),
  }
}
