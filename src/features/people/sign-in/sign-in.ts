/** Creates sessions from an e-mail address and a password, and resolves session cookies to callers. */

import type { Actor } from '../../../access/actor.ts'
import type { SessionCaller } from '../../../access/caller.ts'
import { Cached } from '../../../database/cached.ts'
import type { Database, Tx } from '../../../database/database.ts'
import { Problem } from '../../../errors.ts'
import { randomBase62 } from '../../../lib/base62.ts'
import type { Clock } from '../../../lib/clock.ts'
import { networkOf } from '../../../lib/network.ts'
import { foldEmail } from '../../../schema/fields.ts'
import type { AuditService } from '../../audit/service.ts'
import type { Hashing } from '../passwords/hashing.ts'
import {
  endSignIn,
  endSignInsOf,
  findSignInByHash,
  insertSignIn,
  listSignInsOf,
  type SignIn,
  updateSignInLastSeen,
} from '../store/sign-ins.ts'
import { findPasswordHash, type User, updateLastSignedIn } from '../store/users.ts'
import { hashOfSecret, hexHashOfSecret } from '../tokens/secret.ts'
import { type AttemptKey, type Attempts, keysOfStranger } from './attempts.ts'
import { newDevice, readDevice } from './device.ts'
import { LastUses, minuteOf } from './last-uses.ts'

const DAY_MS = 86_400_000

/** People stay signed in over a weekend and a holiday; forgotten browsers do not. */
const IDLE_MS = 7 * DAY_MS

/** Regardless of use: a stolen cookie is valid for a month at most. */
const SESSION_MS = 30 * DAY_MS

/** 62^43 is above 2^256: as hard to guess as 32 random bytes. */
const SECRET_CHARACTERS = 43

/** A few megabytes. Beyond it each call costs a lookup, until the next change clears the cache anyway. */
const HELD_SESSIONS = 10_000

export interface Credentials {
  email: string
  password: string
  /** The network address of the call, whose failures are counted. */
  address: string
  /** The browser's previous session, which the new one replaces. */
  replaces?: string | undefined
  /** The browser's cookie, which identifies a person who signed in there before. */
  device?: string | undefined
}

/** A session that was just created. */
export interface SignedIn {
  /** For the cookie: shown once, never stored. */
  secret: string
  /** The browser's cookie, which remains when the session ends. */
  device: string
  caller: SessionCaller
}

/** One of a person's active sessions, as shown to that person. */
export interface OwnSession {
  signedInAt: number
  /** To the minute. */
  lastSeenAt: number
  /** The latest possible expiry; an unused session expires earlier. */
  expiresAt: number
  /** Whether it is the caller's current session. */
  isCurrent: boolean
}

interface HeldSession {
  caller: SessionCaller
  /** The minute last recorded. */
  seenAt: number
}

/** The same for an unknown address, a wrong password and a person without one, so as not to reveal who exists. */
function signInFailed(): Problem {
  return new Problem(
    'sign_in_failed',
    'The e-mail address or the password is wrong. If you forgot your password, ask an admin for a reset link.',
  )
}

/** Returned only after a correct password. */
function disabledPerson(): Problem {
  return new Problem('sign_in_failed', 'Your account is disabled. Ask an admin to enable it.')
}

function over(what: string): Problem {
  return new Problem('unauthenticated', `${what} Sign in again.`)
}

function refusalOf({ person, endedAt }: SignIn): Problem {
  if (person.disabledAt !== null) return over(`${person.name} is disabled and was signed out.`)
  if (endedAt !== null) return over(`You were signed out at ${new Date(endedAt).toISOString()}.`)
  return over('Your session has expired.')
}

function isExpired(expiresAt: number, seenAt: number, now: number): boolean {
  return expiresAt <= now || seenAt + IDLE_MS <= now
}

/** Begins a session within the transaction that checks whether the person may sign in. */
export async function beginSession(
  tx: Tx,
  user: User,
  { passwordHash, now }: { passwordHash: string | null; now: number },
): Promise<SignedIn> {
  const secret = randomBase62(SECRET_CHARACTERS)
  const expiresAt = now + SESSION_MS
  const id = await insertSignIn(tx, { userId: user.id, hash: hashOfSecret(secret), now, expiresAt })
  const { uid, email, name, role } = user
  return {
    secret,
    device: newDevice({ uid, passwordHash }),
    caller: {
      kind: 'session',
      session: { id, signedInAt: now, expiresAt },
      person: { id: user.id, uid, email, name, role },
    },
  }
}

export interface SignInDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  hashing: Hashing
  attempts: Attempts
}

export function createSignIn({ db, clock, audit, hashing, attempts }: SignInDependencies) {
  /** Filled by lookups, so that a session of another process is available at once; cleared by every change. */
  const heldSessions = new Cached(async () => new Map<string, HeldSession>())
  const uses = new LastUses(db, updateSignInLastSeen)

  function admit(held: Map<string, HeldSession>, secret: string): SessionCaller | Promise<SessionCaller> {
    const session = held.get(hexHashOfSecret(secret))
    const now = clock.now()
    if (!session || isExpired(session.caller.session.expiresAt, session.seenAt, now)) return lookUp(held, secret)
    const minute = minuteOf(now)
    if (session.seenAt !== minute) {
      session.seenAt = minute
      uses.note(session.caller.session.id, minute)
    }
    return session.caller
  }

  async function lookUp(held: Map<string, HeldSession>, secret: string): Promise<SessionCaller> {
    const found = await findSignInByHash(db.read, hashOfSecret(secret))
    if (!found) throw over('This session is unknown.')
    const { id, createdAt, lastSeenAt, expiresAt, endedAt, person } = found
    const now = clock.now()
    const seenAt = Math.max(lastSeenAt, uses.find(id) ?? 0)
    if (endedAt !== null || person.disabledAt !== null || isExpired(expiresAt, seenAt, now)) throw refusalOf(found)
    const { disabledAt: _, ...shown } = person
    const caller: SessionCaller = {
      kind: 'session',
      session: { id, signedInAt: createdAt, expiresAt },
      person: shown,
    }
    const minute = minuteOf(now)
    uses.note(id, minute)
    if (held.size < HELD_SESSIONS) held.set(hexHashOfSecret(secret), { caller, seenAt: minute })
    return caller
  }

  return {
    /**
     * Begins a session. Throws `sign_in_failed` with the same message and after the same time whether or not the person
     * exists, and `too_many_attempts`, without hashing, after too many failures of the address or for the account, or
     * if too many passwords are being verified. In a browser in which the person signed in before, only its own
     * failures count.
     */
    async signIn({ email: given, password, address, replaces, device }: Credentials): Promise<SignedIn> {
      const email = foldEmail(given)
      const network = networkOf(address)
      const found = await findPasswordHash(db.read, email)
      const known = readDevice(device, found)
      const keys: AttemptKey[] =
        known === undefined
          ? keysOfStranger(email, network)
          : [{ kind: 'device', of: `${email} ${known}`, account: email }]
      const whose = { network, isKnown: known !== undefined }
      const signedIn = await attempts.try(keys, async (onTurn) => {
        const isRight = await hashing.verify(password, found?.passwordHash ?? null, { ...whose, onTurn })
        if (!isRight || !found) return undefined
        if (found.disabledAt !== null) throw disabledPerson()
        const { id: userId } = found
        const passwordHash = found.passwordHash!
        return db.write(async (tx) => {
          const now = clock.now()
          const user = await updateLastSignedIn(tx, { userId, passwordHash, now })
          if (!user) return undefined
          const replaced = replaces && (await findSignInByHash(tx, hashOfSecret(replaces)))
          if (replaced) await endSignIn(tx, replaced.id, now)
          const by = { userId, tokenId: null, origin: address }
          await audit.record(tx, by, { action: 'session.begun', object: { id: user.uid, name: user.email } })
          return beginSession(tx, user, { passwordHash, now })
        })
      })
      if (!signedIn) throw signInFailed()
      return signedIn
    },

    /**
     * The person whose session has this secret. Throws `unauthenticated` with the reason. Synchronous if the session is
     * cached and the revision is available (SQLite).
     */
    authenticateSession(secret: string): SessionCaller | Promise<SessionCaller> {
      const held = heldSessions.get(db.read)
      return held instanceof Promise ? held.then((sessions) => admit(sessions, secret)) : admit(held, secret)
    },

    /** The caller's active sessions, newest first. */
    async listOwnSessions({ session, person }: SessionCaller): Promise<OwnSession[]> {
      const now = clock.now()
      const signIns = await listSignInsOf(db.read, { userId: person.id, now })
      return signIns
        .map(({ id, createdAt, lastSeenAt, expiresAt }) => ({
          signedInAt: createdAt,
          lastSeenAt: Math.max(lastSeenAt, uses.find(id) ?? 0),
          expiresAt,
          isCurrent: id === session.id,
        }))
        .filter(({ expiresAt, lastSeenAt }) => !isExpired(expiresAt, lastSeenAt, now))
    },

    /** Ends the caller's session, or all of their sessions; `by` is recorded in the audit log. */
    signOut: (
      { session, person }: SessionCaller,
      { everywhere, by }: { everywhere: boolean; by: Actor },
    ): Promise<void> =>
      db.write(async (tx) => {
        const now = clock.now()
        if (!everywhere) return endSignIn(tx, session.id, now)
        await endSignInsOf(tx, { userId: person.id, now })
        const object = { id: person.uid, name: person.email }
        await audit.record(tx, by, { action: 'user.signed_out_everywhere', object })
      }),

    /** Saves when sessions were last used, to the minute. Times that can't be saved are kept for the next call. */
    flushSessionUses: () => uses.flush(),
  }
}
