/**
 * One-time links with which `tally up` signs a person in on their own machine, without a password. Only commands make them,
 * which can change the database anyway: intentionally, no operation of the API does.
 */
import type { Actor } from '../../../access/actor.ts'
import type { Database, Reader } from '../../../database/database.ts'
import { Problem } from '../../../errors.ts'
import { randomBase62 } from '../../../lib/base62.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { AuditService } from '../../audit/service.ts'
import { LINK_CHARACTERS } from '../passwords/passwords.ts'
import { deleteLinksOf, findLink, insertLink, isLinkUsed, markLinkUsed } from '../store/links.ts'
import { endSignIn, findSignInByHash } from '../store/sign-ins.ts'
import { findPasswordHash, findUserById, type User, updateLastSignedIn } from '../store/users.ts'
import { hashOfSecret } from '../tokens/secret.ts'
import { beginSession, type SignedIn } from './sign-in.ts'

/** A browser opens it at once. Printed, it has to be copied; what is left in a scrollback is soon worth nothing. */
const SIGN_IN_LINK_MS = 60_000

function wrongLink(): Problem {
  return new Problem(
    'unauthenticated',
    'This link works once and for 60 seconds, and was used, has expired, or is incomplete. Run `tally up` again.',
  )
}

export interface SignInLinkDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  /** Throws `not_found`, and `person_erased`. */
  getUser: (reader: Reader, who: string) => Promise<User>
}

export function createSignInLinks({ db, clock, audit, getUser }: SignInLinkDependencies) {
  return {
    /** A link below `baseUrl` that signs `who` in once. Earlier ones of theirs stop working. */
    createSignInLink: (
      who: string,
      baseUrl: string,
      by: Actor,
    ): Promise<{ link: string; expiresAt: number; isUsed: () => Promise<boolean> }> =>
      db.write(async (tx) => {
        const user = await getUser(tx, who)
        const secret = randomBase62(LINK_CHARACTERS)
        const hash = hashOfSecret(secret)
        const createdAt = clock.now()
        const expiresAt = createdAt + SIGN_IN_LINK_MS
        await deleteLinksOf(tx, user.id, 'sign_in')
        await insertLink(tx, { purpose: 'sign_in', userId: user.id, hash, createdAt, expiresAt })
        await audit.record(tx, by, {
          action: 'user.sign_in_link_made',
          object: { id: user.uid, name: user.email },
          after: { expires_at: new Date(expiresAt).toISOString() },
        })
        // After the #, so that it does not appear in the logs of the server or a proxy.
        return { link: `${baseUrl}/sign-in#${secret}`, expiresAt, isUsed: () => isLinkUsed(db.read, hash) }
      }),

    /** Uses such a link. Throws `unauthenticated` for one that cannot be used, or of a person who may not sign in. */
    signInWithLink: ({
      linkToken,
      address,
      replaces,
    }: {
      linkToken: string
      /** The network address of the call. */
      address: string
      /** The browser's previous session, which the new one replaces. */
      replaces: string | undefined
    }): Promise<SignedIn> =>
      db.write(async (tx) => {
        const now = clock.now()
        const link = await findLink(tx, { hash: hashOfSecret(linkToken), now })
        if (link?.purpose !== 'sign_in' || !(await markLinkUsed(tx, link.id, now))) throw wrongLink()
        const userId = link.userId!
        const { email } = (await findUserById(tx, userId))!
        const { passwordHash = null } = (await findPasswordHash(tx, email)) ?? {}
        const user = await updateLastSignedIn(tx, { userId, passwordHash, now })
        if (!user) throw wrongLink()
        const replaced = replaces && (await findSignInByHash(tx, hashOfSecret(replaces)))
        if (replaced) await endSignIn(tx, replaced.id, now)
        const by = { userId, tokenId: null, origin: address }
        const object = { id: user.uid, name: user.email }
        await audit.record(tx, by, { action: 'session.begun', object, after: { by: 'link' } })
        return beginSession(tx, user, { passwordHash, now })
      }),
  }
}
