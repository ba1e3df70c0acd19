/** First-run setup: a one-time link with which the first visitor names the organization and becomes its admin. */

import type { Actor } from '../../../access/actor.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { Problem, validationFailed } from '../../../errors.ts'
import { randomBase62 } from '../../../lib/base62.ts'
import type { Clock } from '../../../lib/clock.ts'
import { composeName } from '../../../lib/names.ts'
import {
  foldEmail,
  issuesOfCurrency,
  issuesOfEmail,
  issuesOfGiven,
  issuesOfLocale,
  issuesOfName,
  issuesOfTimeZone,
} from '../../../schema/fields.ts'
import { localeOf } from '../../../shared/locales.ts'
import type { AuditService } from '../../audit/service.ts'
import {
  issuesOfPublicUrl,
  type Organization,
  type OrganizationService,
  settingsBody,
  storedUrl,
} from '../../organization/service.ts'
import type { Hashing } from '../passwords/hashing.ts'
import { issuesOfPassword } from '../passwords/password-rule.ts'
import { LINK_CHARACTERS } from '../passwords/passwords.ts'
import { beginSession, type SignedIn } from '../sign-in/sign-in.ts'
import { deleteSetUpLinks, findLink, insertLink, markLinkUsed } from '../store/links.ts'
import { hasUsers, insertUser, type User, updateLastSignedIn } from '../store/users.ts'
import { hashOfSecret } from '../tokens/secret.ts'
import { auditedUser, userObject } from './users.ts'

/** Long enough for a machine that is set up today and used tomorrow; restarting the server creates a new link. */
const SET_UP_LINK_MS = 86_400_000

export interface SetUp {
  linkToken: string
  /** Without a locale or a public URL, it stays as it is. */
  organization: Parameters<OrganizationService['setUp']>[1]
  admin: { email: string; name: string; password: string }
  /** The network address of the call. */
  address: string
}

function alreadySetUp(): Problem {
  return new Problem('already_set_up', 'Tally is already set up. Ask an admin to add you with `tally users add`.')
}

function wrongLink(): Problem {
  return new Problem(
    'unauthenticated',
    'The setup link is invalid, expired (after a day), or replaced by a newer one. Restart the server to print a new link.',
  )
}

/** The latest link of `createSetUpLink`, if this is it and it is still valid. */
async function findSetUpLink(reader: Reader, hash: Uint8Array, now: number): Promise<{ id: number } | undefined> {
  const link = await findLink(reader, { hash, now })
  return link?.purpose === 'set_up' ? link : undefined
}

export interface SetUpDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: OrganizationService
  hashing: Hashing
}

/** What is stored of what was given, and what is wrong with it. */
function checked(given: SetUp['organization'], admin: { email: string; name: string }) {
  const publicUrl = typeof given.publicUrl === 'string' ? storedUrl(given.publicUrl) : given.publicUrl
  const locale = given.locale && (localeOf(given.locale) ?? given.locale)
  const settings = { ...given, name: composeName(given.name), locale, publicUrl }
  const person = { email: foldEmail(admin.email), name: composeName(admin.name) }
  const issues = [
    ...issuesOfName(settings.name, '/organization/name'),
    ...issuesOfTimeZone(settings.timeZone, '/organization/time_zone'),
    ...issuesOfCurrency(settings.currency, '/organization/currency'),
    ...issuesOfGiven(settings.locale, (locale) => issuesOfLocale(locale, '/organization/locale')),
    ...issuesOfGiven(publicUrl, (url) => issuesOfPublicUrl(url, '/organization/public_url')),
    ...issuesOfEmail(person.email, '/admin/email'),
    ...issuesOfName(person.name, '/admin/name'),
  ]
  return { settings, person, issues }
}

export function createSetUp({ db, clock, audit, organization, hashing }: SetUpDependencies) {
  /** Without `by`, the first admin does it, at the address. */
  async function begin(
    tx: Tx,
    { settings, person }: Omit<ReturnType<typeof checked>, 'issues'>,
    { passwordHash, by, address = '' }: { passwordHash: string | null; by?: Actor; address?: string },
  ): Promise<{ user: User; organization: Organization }> {
    if (await hasUsers(tx)) throw alreadySetUp()
    const now = clock.now()
    const set = await organization.setUp(tx, settings, now)
    const user = (await insertUser(tx, { ...person, role: 'admin', passwordHash, now }))!
    const actor = by ?? { userId: user.id, tokenId: null, origin: address }
    await audit.record(tx, actor, { action: 'organization.set_up', after: settingsBody(set) })
    await audit.record(tx, actor, { action: 'user.added', object: userObject(user), after: auditedUser(user) })
    return { user, organization: set }
  }

  return {
    /**
     * Whether there are any people: the first person, added on the command line or with the link, completes the setup.
     */
    isSetUp: () => hasUsers(db.read),

    /** A link below `baseUrl` with which the first visitor sets up Tally. Earlier links stop working. */
    async createSetUpLink(baseUrl: string): Promise<string> {
      const secret = randomBase62(LINK_CHARACTERS)
      const createdAt = clock.now()
      const expiresAt = createdAt + SET_UP_LINK_MS
      await db.write(async (tx) => {
        await deleteSetUpLinks(tx)
        await insertLink(tx, { purpose: 'set_up', userId: null, hash: hashOfSecret(secret), createdAt, expiresAt })
      })
      // After the #, so that it does not appear in the logs of the server or a proxy.
      return `${baseUrl}/setup#${secret}`
    },

    /**
     * Names the organization, adds its first admin and signs them in. Throws `already_set_up` if there are people
     * already, `unauthenticated` for an invalid or expired link.
     */
    async setUp({
      linkToken,
      organization: given,
      admin,
      address,
    }: SetUp): Promise<{ user: User; organization: Organization; signedIn: SignedIn }> {
      const hash = hashOfSecret(linkToken)
      // First, so that only callers with the link can make Tally hash passwords.
      if (await hasUsers(db.read)) throw alreadySetUp()
      if (!(await findSetUpLink(db.read, hash, clock.now()))) throw wrongLink()
      const { issues, ...valid } = checked(given, admin)
      issues.push(...(await issuesOfPassword(admin.password, { pointer: '/admin/password', owner: valid.person })))
      if (issues.length > 0) throw validationFailed(issues)
      const passwordHash = await hashing.hash(admin.password)
      return db.write(async (tx) => {
        const now = clock.now()
        const link = await findSetUpLink(tx, hash, now)
        if (!link || !(await markLinkUsed(tx, link.id, now))) throw alreadySetUp()
        const begun = await begin(tx, valid, { passwordHash, address })
        const user = (await updateLastSignedIn(tx, { userId: begun.user.id, passwordHash, now }))!
        return { ...begun, user, signedIn: await beginSession(tx, user, { passwordHash, now }) }
      })
    },

    /**
     * The same by a command, for the person at this machine, who has no password. Throws `already_set_up` if there are
     * people already.
     */
    async setUpOwner(
      owner: { email: string; name: string },
      { organization: given, by }: { organization: SetUp['organization']; by: Actor },
    ): Promise<User> {
      const { issues, ...valid } = checked(given, owner)
      if (issues.length > 0) throw validationFailed(issues)
      return (await db.write((tx) => begin(tx, valid, { passwordHash: null, by }))).user
    },
  }
}
