/** Giving a person a password: by an admin, by themselves, or by a one-time link. Each ends the sessions begun before. */
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { LinkPurpose } from '../../database/tables.ts'
import { Problem, validationFailed } from '../../errors.ts'
import { randomBase62 } from '../../lib/base62.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Attempts, networkOf } from './attempts.ts'
import type { SessionCaller } from './caller.ts'
import type { Hashing } from './hashing.ts'
import { faultsOfPassword } from './rules.ts'
import { hashOfSecret } from './secret.ts'
import { beginSession, type SignedIn } from './sign-in.ts'
import {
  deleteLinksOf,
  endSignInsOf,
  findLink,
  findPasswordHash,
  insertLink,
  markLinkUsed,
  type User,
  updateLastSignedIn,
  updateUser,
} from './store.ts'

const DAY_MS = 86_400_000

export const LINK_CHARACTERS = 32

/** An invitation may wait for somebody's return from a week off; who asks for a new password is there. */
const LINK_LIFETIMES_MS: Record<PasswordLink, number> = { invitation: 7 * DAY_MS, password: DAY_MS }

/** What a link to choose a password is for: the first one, or a new one. */
export type PasswordLink = Exclude<LinkPurpose, 'set_up'>

function wrongPassword(): Problem {
  return validationFailed([{ pointer: '/current', code: 'wrong', message: 'must be the password that you have now' }])
}

function wrongLink(): Problem {
  return new Problem(
    'unauthenticated',
    'This link is not whole, was used, was replaced by a newer one, or is too old. An admin can make you a new one.',
  )
}

function hasPassword({ email }: User): Problem {
  return new Problem(
    'already_exists',
    `${email} has a password already. \`tally users reset-password ${email}\` makes a link to choose a new one.`,
  )
}

function disabled({ email }: User): Problem {
  return validationFailed([
    {
      pointer: '/user',
      code: 'not_allowed',
      message: `${email} is disabled; enable them with \`tally users enable\` first`,
    },
  ])
}

function requireGood(password: string, pointer: string): void {
  const faults = faultsOfPassword(password, pointer)
  if (faults.length > 0) throw validationFailed(faults)
}

export interface PasswordDependencies {
  db: Database
  clock: Clock
  hashing: Hashing
  attempts: Attempts
  /** By e-mail address or id. Throws `not_found`. */
  getUser: (reader: Reader, who: string) => Promise<User>
}

export function createPasswords({ db, clock, hashing, attempts, getUser }: PasswordDependencies) {
  /** Whoever had the old password, or a link to choose one, is out. */
  async function replacePassword(tx: Tx, userId: number, passwordHash: string, kept?: number): Promise<User> {
    const user = await updateUser(tx, userId, { passwordHash })
    await deleteLinksOf(tx, userId)
    await endSignInsOf(tx, { userId, kept, now: clock.now() })
    return user
  }

  return {
    /** Ends the person's sessions. */
    async setPassword(who: string, password: string): Promise<User> {
      requireGood(password, '/password')
      await getUser(db.read, who)
      const passwordHash = await hashing.hash(password)
      return db.write(async (tx) => replacePassword(tx, (await getUser(tx, who)).id, passwordHash))
    },

    /**
     * Changes the caller's own password and ends their other sessions. Throws `validation_failed` where the current
     * one is wrong, `too_many_attempts` and `overloaded` as signing in does.
     */
    async changePassword(
      { person, session }: SessionCaller,
      { current, next, address }: { current: string; next: string; address: string },
    ): Promise<void> {
      requireGood(next, '/new')
      const changed = await attempts.try([`account ${person.email}`, `address ${networkOf(address)}`], async () => {
        const found = await findPasswordHash(db.read, person.email)
        const known = found?.passwordHash ?? null
        if (!found || known === null || !(await hashing.verify(current, known))) return undefined
        const passwordHash = await hashing.hash(next)
        return db.write(async (tx) => {
          // Not where it was changed meanwhile: the one that was checked is the current one no more.
          if (!(await hasPasswordHash(tx, person.email, known))) return undefined
          return replacePassword(tx, found.id, passwordHash, session.id)
        })
      })
      if (!changed) throw wrongPassword()
    },

    /**
     * A link below `baseUrl` by which a person chooses a password: their first within a week of an invitation, a new
     * one within a day. Earlier links of theirs stop working. Throws `already_exists` for an invitation of somebody
     * who has a password, and `validation_failed` for somebody who is disabled.
     */
    async createPasswordLink(
      who: string,
      purpose: PasswordLink,
      baseUrl: string,
    ): Promise<{ user: User; link: string; expiresAt: number }> {
      const secret = randomBase62(LINK_CHARACTERS)
      const createdAt = clock.now()
      const expiresAt = createdAt + LINK_LIFETIMES_MS[purpose]
      const user = await db.write(async (tx) => {
        const found = await getUser(tx, who)
        if (found.disabledAt !== null) throw disabled(found)
        if (purpose === 'invitation' && found.hasPassword) throw hasPassword(found)
        await deleteLinksOf(tx, found.id)
        await insertLink(tx, { purpose, userId: found.id, hash: hashOfSecret(secret), createdAt, expiresAt })
        return found
      })
      // After the #, so that it reaches neither the server's log nor a proxy's.
      return { user, link: `${baseUrl}/password#${secret}`, expiresAt }
    },

    /** Uses a link of {@link createPasswordLink} and signs the person in. Throws `unauthenticated` for a wrong or old one. */
    async choosePassword({ linkToken, password }: { linkToken: string; password: string }): Promise<SignedIn> {
      const hash = hashOfSecret(linkToken)
      const getLink = async (reader: Reader) => {
        const link = await findLink(reader, { hash, now: clock.now() })
        if (!link || link.userId === null) throw wrongLink()
        return { id: link.id, userId: link.userId }
      }
      // Before anything else, so that only who has a link makes Tally hash passwords.
      await getLink(db.read)
      requireGood(password, '/password')
      const passwordHash = await hashing.hash(password)
      return db.write(async (tx) => {
        const { id, userId } = await getLink(tx)
        const now = clock.now()
        if (!(await markLinkUsed(tx, id, now))) throw wrongLink()
        await replacePassword(tx, userId, passwordHash)
        const user = await updateLastSignedIn(tx, { userId, passwordHash, now })
        if (!user) throw wrongLink()
        return beginSession(tx, user, now)
      })
    },
  }
}

async function hasPasswordHash(tx: Tx, email: string, passwordHash: string): Promise<boolean> {
  return (await findPasswordHash(tx, email))?.passwordHash === passwordHash
}
