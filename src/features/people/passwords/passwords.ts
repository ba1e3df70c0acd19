/** Sets passwords: by an admin, by the person, or with a one-time link. Each ends the person's earlier sessions. */

import type { Actor } from '../../../access/actor.ts'
import type { SessionCaller } from '../../../access/caller.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import type { LinkPurpose } from '../../../database/schema/values.ts'
import { Problem, refusal } from '../../../errors.ts'
import { randomBase62 } from '../../../lib/base62.ts'
import type { Clock } from '../../../lib/clock.ts'
import { networkOf } from '../../../lib/network.ts'
import type { AuditService, ChangeAction } from '../../audit/service.ts'
import { type Attempts, clearAttempts } from '../sign-in/attempts.ts'
import { newDevice } from '../sign-in/device.ts'
import { beginSession, type SignedIn } from '../sign-in/sign-in.ts'
import { deleteLinksOf, findLink, insertLink, markLinkUsed } from '../store/links.ts'
import { endSignInsOf } from '../store/sign-ins.ts'
import { findPasswordHash, findUserById, type User, updateLastSignedIn, updateUser } from '../store/users.ts'
import { hashOfSecret } from '../tokens/secret.ts'
import type { Hashing } from './hashing.ts'
import { requireGoodPassword } from './password-rule.ts'

const DAY_MS = 86_400_000

export const LINK_CHARACTERS = 32

/** An invitation may wait for someone to return from a week off; a person who asks for a new password is available. */
const LINK_LIFETIMES_MS: Record<PasswordLink, number> = { invitation: 7 * DAY_MS, password: DAY_MS }

/** Purpose of a one-time link: to set the first password, or a new one. */
export type PasswordLink = Exclude<LinkPurpose, 'set_up' | 'sign_in'>

function wrongPassword(): Problem {
  return refusal('/current', 'wrong', 'must be your current password')
}

function wrongLink(): Problem {
  return new Problem(
    'unauthenticated',
    'This link is incomplete, expired, already used, or replaced by a newer one. Ask an admin for a new link.',
  )
}

function linkInUse(): Problem {
  return new Problem('too_many_attempts', 'This link is already being used to set a password. Try again in 3 s.', {
    headers: { 'retry-after': '3' },
  })
}

function hasPassword({ email }: User): Problem {
  return new Problem(
    'already_exists',
    `${email} already has a password. To create a reset link, run \`tally users reset-password ${email}\`.`,
  )
}

function disabled({ email }: User): Problem {
  return refusal('/user', 'not_allowed', `${email} is disabled; enable them with \`tally users enable\` first`)
}

/** A link to set a password, and its expiry. */
export interface MadeLink {
  user: User
  link: string
  expiresAt: number
}

interface NewPasswordLink {
  user: User
  purpose: PasswordLink
  baseUrl: string
  by: Actor
}

/** Creates a link within the transaction that decides about it. Earlier links of the person stop working. */
export async function insertPasswordLink(
  tx: Tx,
  { audit, now: createdAt }: { audit: AuditService; now: number },
  { user, purpose, baseUrl, by }: NewPasswordLink,
): Promise<MadeLink> {
  const secret = randomBase62(LINK_CHARACTERS)
  const expiresAt = createdAt + LINK_LIFETIMES_MS[purpose]
  await deleteLinksOf(tx, user.id)
  await insertLink(tx, { purpose, userId: user.id, hash: hashOfSecret(secret), createdAt, expiresAt })
  await audit.record(tx, by, {
    action: purpose === 'invitation' ? 'user.invited' : 'user.password_link_made',
    object: { id: user.uid, name: user.email },
    after: { expires_at: new Date(expiresAt).toISOString() },
  })
  // After the #, so that it does not appear in the logs of the server or a proxy.
  return { user, link: `${baseUrl}/password#${secret}`, expiresAt }
}

export interface PasswordDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  hashing: Hashing
  attempts: Attempts
  /** By e-mail address or id. Throws `not_found`. */
  getUser: (reader: Reader, who: string) => Promise<User>
}

export function createPasswords({ db, clock, audit, hashing, attempts, getUser }: PasswordDependencies) {
  /** The keys of links with a password that is being hashed. */
  const linksInUse = new Set<number>()

  /** Ends the access of everyone with the old password, or with a link to set one. */
  async function replacePassword(
    tx: Tx,
    userId: number,
    passwordHash: string,
    { action, by, kept }: { action: ChangeAction; by: Actor; kept?: number },
  ): Promise<User> {
    const user = await updateUser(tx, userId, { passwordHash })
    await audit.record(tx, by, { action, object: { id: user.uid, name: user.email } })
    await clearAttempts(tx, user.email)
    await deleteLinksOf(tx, userId)
    await endSignInsOf(tx, { userId, kept, now: clock.now() })
    return user
  }

  return {
    /** Ends the person's sessions. */
    async setPassword(who: string, password: string, by: Actor): Promise<User> {
      const owner = await getUser(db.read, who)
      await requireGoodPassword(password, { pointer: '/password', owner })
      const passwordHash = await hashing.hash(password)
      return db.write(async (tx) =>
        replacePassword(tx, (await getUser(tx, who)).id, passwordHash, { action: 'user.password_set', by }),
      )
    },

    /**
     * Changes the caller's own password and ends their other sessions. Throws `validation_failed` if the current one is
     * wrong, and `too_many_attempts` as for signing in, but counts only their own failures. Returns the new cookie
     * value of the browser, by which it remains known.
     */
    async changePassword(
      { person, session }: SessionCaller,
      { current, next, address }: { current: string; next: string; address: string },
    ): Promise<{ device: string }> {
      await requireGoodPassword(next, { pointer: '/new', owner: person })
      const whose = { network: networkOf(address), isKnown: true }
      // This caller is signed in as the person: failed attempts of strangers elsewhere don't count against them.
      const key = { kind: 'device', of: `session of ${person.uid}`, account: person.email } as const
      const changed = await attempts.try([key], async (onTurn) => {
        const found = await findPasswordHash(db.read, person.email)
        const known = found?.passwordHash ?? null
        if (!found || known === null || !(await hashing.verify(current, known, { ...whose, onTurn }))) return undefined
        const passwordHash = await hashing.hash(next, whose)
        return db.write(async (tx) => {
          // Fails if the password was changed meanwhile: then the verified one is no longer current.
          if (!(await hasPasswordHash(tx, person.email, known))) return undefined
          const by = { userId: person.id, tokenId: null, origin: address }
          await replacePassword(tx, found.id, passwordHash, { action: 'user.password_changed', by, kept: session.id })
          return { device: newDevice({ uid: found.uid, passwordHash }) }
        })
      })
      if (!changed) throw wrongPassword()
      return changed
    },

    /**
     * A link below `baseUrl` with which a person sets a password: within a week for an invitation, a day for a new
     * password. Earlier links of theirs stop working. Throws `already_exists` for an invitation of a person with a
     * password, and `validation_failed` for a disabled person.
     */
    createPasswordLink: (who: string, purpose: PasswordLink, baseUrl: string, by: Actor): Promise<MadeLink> =>
      db.write(async (tx) => {
        const user = await getUser(tx, who)
        if (user.disabledAt !== null) throw disabled(user)
        if (purpose === 'invitation' && user.hasPassword) throw hasPassword(user)
        return insertPasswordLink(tx, { audit, now: clock.now() }, { user, purpose, baseUrl, by })
      }),

    /**
     * Uses a link of {@link createPasswordLink} and signs the person in. Throws `unauthenticated` for an invalid or
     * expired link.
     */
    async choosePassword({
      linkToken,
      password,
      address,
    }: {
      linkToken: string
      password: string
      /** The network address of the call. */
      address: string
    }): Promise<SignedIn> {
      const hash = hashOfSecret(linkToken)
      const getLink = async (reader: Reader) => {
        const link = await findLink(reader, { hash, now: clock.now() })
        // A link that signs in sets no password: it may be in the history of a browser or of a terminal.
        if (!link || link.userId === null || link.purpose === 'sign_in') throw wrongLink()
        return { id: link.id, userId: link.userId }
      }
      // First, so that only callers with a link can make Tally hash passwords, and each link only one at a time.
      const link = await getLink(db.read)
      const owner = (await findUserById(db.read, link.userId))!
      await requireGoodPassword(password, { pointer: '/password', owner })
      if (linksInUse.has(link.id)) throw linkInUse()
      linksInUse.add(link.id)
      const passwordHash = await hashing.hash(password).finally(() => linksInUse.delete(link.id))
      return db.write(async (tx) => {
        const { id, userId } = await getLink(tx)
        const now = clock.now()
        if (!(await markLinkUsed(tx, id, now))) throw wrongLink()
        const by = { userId, tokenId: null, origin: address }
        await replacePassword(tx, userId, passwordHash, { action: 'user.password_chosen', by })
        const user = await updateLastSignedIn(tx, { userId, passwordHash, now })
        if (!user) throw wrongLink()
        return beginSession(tx, user, { passwordHash, now })
      })
    },
  }
}

async function hasPasswordHash(tx: Tx, email: string, passwordHash: string): Promise<boolean> {
  return (await findPasswordHash(tx, email))?.passwordHash === passwordHash
}
