/** Adds, invites, updates and disables people. */

import type { Actor } from '../../../access/actor.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { NOTIFICATION_TOPICS, type NotificationTopic, type Role } from '../../../database/schema/values.ts'
import { pageAfter } from '../../../database/sorting.ts'
import { type Issue, Problem, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { isId } from '../../../lib/id.ts'
import { composeName } from '../../../lib/names.ts'
import { foldEmail, issuesOfEmail, issuesOfName, issuesOfRole } from '../../../schema/fields.ts'
import type { Rows } from '../../../schema/lists.ts'
import { type AuditService, difference } from '../../audit/service.ts'
import type { Hashing } from '../passwords/hashing.ts'
import { issuesOfPassword } from '../passwords/password-rule.ts'
import { insertPasswordLink, type MadeLink } from '../passwords/passwords.ts'
import { clearAttempts } from '../sign-in/attempts.ts'
import { SLOWED, UNLOCKED } from '../sign-in/notices.ts'
import type { USER_SORTS } from '../sorts.ts'
import { deleteDeputiesOf } from '../store/deputies.ts'
import { deleteFurtherEmails, findUserByFurtherEmail, listFurtherEmails } from '../store/emails.ts'
import { deleteGrantsOf } from '../store/grants.ts'
import { deleteLinksOf } from '../store/links.ts'
import { deletePreferences } from '../store/preferences.ts'
import { deleteSignInsOf, endSignInsOf } from '../store/sign-ins.ts'
import { listTokensInUse, retireTokensOf } from '../store/tokens.ts'
import {
  findUserByEmail,
  findUserByUid,
  hasActiveAdmin,
  insertUser,
  listUsers,
  listUsersByName,
  USER_KEYS,
  type User,
  type UserFilter,
  updateUser,
} from '../store/users.ts'
import type { Token } from '../tokens/token.ts'
import { prepareRoleChange } from '../viewers/role.ts'

const DAY_MS = 86_400_000

/** Tokens used within this time are listed when their creator is disabled, since someone will miss them. */
const IN_USE_MS = 30 * DAY_MS

export interface NewUser {
  email: string
  name: string
  role: Role
  /** Without a password the person can own tokens but not sign in. */
  password?: string | undefined
}

/** Changes to a person; absent fields stay unchanged. */
export interface UserChange {
  email?: string | undefined
  name?: string | undefined
  role?: Role | undefined
  /** Topics that are absent stay as they are. */
  notifications?: Partial<NotificationChoice> | undefined
}

/** What somebody is sent e-mails about. */
export type NotificationChoice = Record<NotificationTopic, boolean>

function unknownUser(user: string): Problem {
  return new Problem('not_found', `The person '${user}' was not found. \`tally users list\` lists all people.`)
}

function emailTaken(email: string): Problem {
  return new Problem('already_exists', `A person with the e-mail address ${email} already exists.`)
}

function lastAdmin(user: User): Problem {
  return new Problem(
    'last_admin',
    `${user.name} (${user.email}) is the last active admin. Make another person an admin first.`,
  )
}

function erased({ name }: User): Problem {
  return new Problem('person_erased', `${name} was erased; the account can no longer be changed.`)
}

function refuse(issues: Issue[]): void {
  if (issues.length > 0) throw validationFailed(issues)
}

/** By id (`usr_…`) or e-mail address. */
export async function findUser(reader: Reader, user: string): Promise<User | undefined> {
  return isId('usr', user) ? findUserByUid(reader, user) : findUserByEmail(reader, foldEmail(user))
}

/** By e-mail address or `usr_` id. Throws `not_found`. */
export async function getUser(reader: Reader, user: string): Promise<User> {
  const found = await findUser(reader, user)
  if (!found) throw unknownUser(user)
  return found
}

/** A person whose account may be changed. Throws `not_found`, and `person_erased` for somebody who was erased. */
export async function getAccount(reader: Reader, user: string): Promise<User> {
  const found = await getUser(reader, user)
  if (found.erasedAt !== null) throw erased(found)
  return found
}

/** What can be changed of a person. */
function changeable({ email, name, role, notifications }: User) {
  return { email, name, role, notifications }
}

export function notificationChoice({ notifications }: Pick<User, 'notifications'>): NotificationChoice {
  return Object.fromEntries(
    NOTIFICATION_TOPICS.map((topic) => [topic, notifications.includes(topic)]),
  ) as NotificationChoice
}

function chosenTopics(user: Pick<User, 'notifications'>, change: Partial<NotificationChoice>): NotificationTopic[] {
  const choice = { ...notificationChoice(user), ...change }
  return NOTIFICATION_TOPICS.filter((topic) => choice[topic])
}

/** The audit log object of a person. */
export function userObject({ uid, email }: Pick<User, 'uid' | 'email'>): { id: string; name: string } {
  return { id: uid, name: email }
}

/** The audit log record of a person. */
export function auditedUser({ email, name, role, hasPassword }: User) {
  return { email, name, role, has_password: hasPassword }
}

export interface UsersDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  hashing: Hashing
}

export function createUsers({ db, clock, audit, hashing }: UsersDependencies) {
  /**
   * Changes a person and then checks whether an admin remains. In this order two admins cannot demote each other at the
   * same time: the change makes PostgreSQL lock the revision, so the second one sees the first one's change.
   */
  async function demote(tx: Tx, user: User, to: Parameters<typeof updateUser>[2]): Promise<User> {
    const changed = await updateUser(tx, user.id, to)
    const wasAdmin = user.role === 'admin' && user.disabledAt === null
    if (wasAdmin && !(await hasActiveAdmin(tx))) throw lastAdmin(user)
    return changed
  }

  /** Throws `validation_failed`, and in the transaction `already_exists` if the e-mail address is in use. */
  async function prepareUser({ email: givenEmail, name: givenName, role, password }: NewUser) {
    const [email, name] = [foldEmail(givenEmail), composeName(givenName)]
    refuse([
      ...issuesOfEmail(email, '/email'),
      ...issuesOfName(name, '/name'),
      ...issuesOfRole(role, '/role'),
      ...(password === undefined
        ? []
        : await issuesOfPassword(password, { pointer: '/password', owner: { email, name } })),
    ])
    // Outside the transaction: hashing is intentionally slow, and runs on a thread of its own.
    const passwordHash = password === undefined ? null : await hashing.hash(password)
    return async (tx: Tx, by: Actor) => {
      const isFurther = (await findUserByFurtherEmail(tx, email)) !== undefined
      const user = isFurther ? undefined : await insertUser(tx, { email, name, role, passwordHash, now: clock.now() })
      if (!user) throw emailTaken(email)
      await audit.record(tx, by, { action: 'user.added', object: userObject(user), after: auditedUser(user) })
      return user
    }
  }

  /**
   * An additional address of the same person becomes their primary one. Throws `already_exists` if it belongs to
   * another person.
   */
  async function freeEmail(tx: Tx, email: string, user: User): Promise<void> {
    const further = await findUserByFurtherEmail(tx, email)
    if (further && further.id !== user.id) throw emailTaken(email)
    if (await findUserByEmail(tx, email)) throw emailTaken(email)
    if (further) await deleteFurtherEmails(tx, [email])
  }

  async function change(who: string, given: UserChange, by: Actor): Promise<User> {
    const { role } = given
    const email = given.email === undefined ? undefined : foldEmail(given.email)
    const name = given.name === undefined ? undefined : composeName(given.name)
    refuse([
      ...(email === undefined ? [] : issuesOfEmail(email, '/email')),
      ...(name === undefined ? [] : issuesOfName(name, '/name')),
      ...(role === undefined ? [] : issuesOfRole(role, '/role')),
    ])
    return db.write(async (tx) => {
      const user = await getAccount(tx, who)
      const wanted = {
        email: email ?? user.email,
        name: name ?? user.name,
        role: role ?? user.role,
        notifications: chosenTopics(user, given.notifications ?? {}),
      }
      const changes = difference(changeable(user), wanted)
      if (!changes) return user
      // If two people take an address at once, the second one's transaction fails on the constraint, runs again, and
      // throws here.
      if (wanted.email !== user.email) await freeEmail(tx, wanted.email, user)
      await prepareRoleChange(tx, user, { role: wanted.role, by, now: clock.now(), audit })
      const changed = await demote(tx, user, wanted)
      await audit.record(tx, by, { action: 'user.changed', object: userObject(changed), ...changes })
      return changed
    })
  }

  return {
    /** Throws `validation_failed`, and `already_exists` if the e-mail address is in use. */
    async addUser(given: NewUser, by: Actor): Promise<User> {
      const add = await prepareUser(given)
      return db.write((tx) => add(tx, by))
    },

    /** Adds a person, with a link below `baseUrl` to set their first password. Throws as `addUser`. */
    async inviteUser(given: Omit<NewUser, 'password'>, baseUrl: string, by: Actor): Promise<MadeLink> {
      const add = await prepareUser(given)
      return db.write(async (tx) => {
        const user = await add(tx, by)
        return insertPasswordLink(tx, { audit, now: clock.now() }, { user, purpose: 'invitation', baseUrl, by })
      })
    },

    /** The last added first unless the query has another order; exports by name. */
    userRows: {
      list: (filter, page) => listUsers(page.by ? db.slow : db.read, filter, page),
      all: (filter) => listUsersByName(db.read, filter),
      keyOf: ({ id }) => id,
      pageAfter: (user, by) => pageAfter(USER_KEYS, by, user, user.id),
    } satisfies Rows<UserFilter, keyof typeof USER_SORTS, User>,

    /** All people who match the filter, by name. */
    everyUser: (filter: UserFilter = {}): Promise<User[]> => listUsersByName(db.read, filter),

    /** By e-mail address or `usr_` id; undefined if there is none. */
    findUser: (user: string) => findUser(db.read, user),

    /** By e-mail address or `usr_` id. Throws `not_found`. */
    getUser: (user: string) => getUser(db.read, user),

    /** As {@link getUser}, for a change. Throws `person_erased` as well. */
    getAccount: (user: string) => getAccount(db.read, user),

    /**
     * Throws `validation_failed`, `already_exists` if the e-mail address is in use, `last_admin` if no admin would
     * remain, and `has_duties` for somebody who cannot become a viewer.
     */
    changeUser: change,

    /**
     * Signs a person out and stops their service, read and API tokens. Returns those of them that were used in the last 30
     * days. Throws `last_admin` if no admin would remain.
     */
    disableUser: (who: string, by: Actor): Promise<{ user: User; tokensInUse: Token[] }> =>
      db.write(async (tx) => {
        const user = await getAccount(tx, who)
        const now = clock.now()
        const tokensInUse = await listTokensInUse(tx, { createdBy: user.id, since: now - IN_USE_MS, now })
        if (user.disabledAt !== null) return { user, tokensInUse }
        const disabled = await demote(tx, user, { disabledAt: now })
        // When the person is enabled again, they have to sign in again.
        await endSignInsOf(tx, { userId: user.id, now })
        await deleteLinksOf(tx, user.id)
        await audit.record(tx, by, { action: 'user.disabled', object: userObject(user) })
        return { user: disabled, tokensInUse }
      }),

    /** Clears a person's failed sign-in attempts. */
    unlockUser: (who: string, by: Actor): Promise<User> =>
      db.write(async (tx) => {
        const user = await getAccount(tx, who)
        await clearAttempts(tx, user.email)
        await audit.record(tx, by, { action: UNLOCKED, object: userObject(user) })
        return user
      }),

    /**
     * Turns an account into a pseudonym, which nobody can sign in to: its password, sessions, links, additional
     * addresses, deputies, grants and preferences go, and its tokens are revoked, except for those of the organization. Throws
     * `person_erased`, and `last_admin` if no admin would remain.
     */
    async releaseAccount(tx: Tx, who: string, pseudonym: { name: string; email: string }): Promise<User> {
      const user = await getAccount(tx, who)
      const now = clock.now()
      const released = await demote(tx, user, {
        ...pseudonym,
        passwordHash: null,
        lastSignedInAt: null,
        notifications: [],
        disabledAt: user.disabledAt ?? now,
        erasedAt: now,
      })
      await deleteLinksOf(tx, user.id)
      await deleteSignInsOf(tx, user.id)
      await deleteFurtherEmails(tx, await listFurtherEmails(tx, user.id))
      await deleteDeputiesOf(tx, user.id)
      await deletePreferences(tx, user.id)
      await deleteGrantsOf(tx, user.id)
      await retireTokensOf(tx, user.id, now)
      return released
    },

    /** Since when sign-in attempts for the person have been slowed down; undefined if they are not. */
    async findSlowdown(user: User): Promise<{ since: number } | undefined> {
      const latest = await audit.findLatest(user.uid, [SLOWED, UNLOCKED])
      return latest?.action === SLOWED ? { since: latest.at } : undefined
    },

    /** Reactivates a disabled person and their tokens. */
    enableUser: (who: string, by: Actor): Promise<User> =>
      db.write(async (tx) => {
        const user = await getAccount(tx, who)
        if (user.disabledAt === null) return user
        await audit.record(tx, by, { action: 'user.enabled', object: userObject(user) })
        return updateUser(tx, user.id, { disabledAt: null })
      }),
  }
}
