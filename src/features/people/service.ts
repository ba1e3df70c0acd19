/** People, their roles and tokens, the organization's settings, and the first-run set-up. */
import { Cached } from '../../database/cached.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { Role, TokenKind } from '../../database/tables.ts'
import { type Fault, Problem, validationFailed } from '../../errors.ts'
import { randomBase62 } from '../../lib/base62.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId } from '../../lib/id.ts'
import { composeName } from '../../lib/names.ts'
import { Attempts } from './attempts.ts'
import { createAuthentication } from './authentication.ts'
import { Hashing } from './hashing.ts'
import { createPasswords, LINK_CHARACTERS } from './passwords.ts'
import {
  faultsOfCurrency,
  faultsOfEmail,
  faultsOfName,
  faultsOfPassword,
  faultsOfRole,
  faultsOfTimeZone,
  foldEmail,
} from './rules.ts'
import { hashOfSecret, hintOfSecret, newSecret } from './secret.ts'
import { beginSession, createSignIn, type SignedIn } from './sign-in.ts'
import {
  deleteLinksOf,
  deleteSetUpLinks,
  endSignInsOf,
  findLink,
  findTokenByUid,
  findUserByEmail,
  findUserByUid,
  getOrganization,
  hasActiveAdmin,
  hasUsers,
  insertLink,
  insertToken,
  insertUser,
  listTokens,
  listTokensInUse,
  listUsers,
  markLinkUsed,
  type Organization,
  type User,
  updateLastSignedIn,
  updateOrganization,
  updateTokenRevoked,
  updateUser,
} from './store.ts'
import { MAY_MAKE_ORGANIZATION_TOKENS, MAY_SEND_BILLS, stateOfToken, type Token, type TokenState } from './token.ts'

export type { Caller, CallerKind, CallerOf, Person } from './caller.ts'
export type { Organization, SignedIn, Token, TokenState, User }

const DAY_MS = 86_400_000

/** Tokens used within it are shown when their creator is disabled: whoever relies on them will notice. */
const IN_USE_MS = 30 * DAY_MS

/** Long enough for a machine that is set up today and looked at tomorrow; starting the server again makes a new link. */
const SET_UP_LINK_MS = DAY_MS

export interface NewUser {
  email: string
  name: string
  role: Role
  /** Without one the person can own tokens but not sign in. */
  password?: string | undefined
}

export interface NewToken {
  kind: TokenKind
  /** The e-mail address or id of the person who owns it; entries reported with a service token are theirs. */
  user: string
  name: string
  /** Milliseconds since 1970; without it the token does not expire. */
  expiresAt?: number | undefined
  /** Lets a service token send bills as well, as long as its creator's role may. */
  allowBills?: boolean | undefined
}

export interface SetUp {
  linkToken: string
  organization: { name: string; timeZone: string; currency: string }
  admin: { email: string; name: string; password: string }
}

function unknownUser(user: string): Problem {
  return new Problem('not_found', `There is no person '${user}'. \`tally users list\` shows everybody.`)
}

function unknownToken(uid: string): Problem {
  return new Problem(
    'not_found',
    `There is no token '${uid}'. \`tally tokens list --all\` shows all of them with their ids (tok_…).`,
  )
}

function emailTaken(email: string): Problem {
  return new Problem('already_exists', `A person with the e-mail ${email} exists already.`)
}

function lastAdmin(user: User): Problem {
  return new Problem(
    'last_admin',
    `${user.name} (${user.email}) is the last active admin. Make another person an admin first.`,
  )
}

function refusedRole(user: User, what: string, roles: readonly Role[]): Problem {
  return new Problem(
    'forbidden',
    `${what} needs the role ${roles.join(' or ')}; ${user.email} has the role ${user.role}.`,
  )
}

function alreadySetUp(): Problem {
  return new Problem(
    'already_set_up',
    'This Tally has people already, so nobody can set it up again. An admin can add you with `tally users add`.',
  )
}

function wrongLink(): Problem {
  return new Problem(
    'unauthenticated',
    'The set-up link is wrong, was replaced by a newer one, or is older than a day. Start the server again: it prints a new one.',
  )
}

function refuse(faults: Fault[]): void {
  if (faults.length > 0) throw validationFailed(faults)
}

async function findUser(reader: Reader, user: string): Promise<User | undefined> {
  return isId('usr', user) ? findUserByUid(reader, user) : findUserByEmail(reader, foldEmail(user))
}

async function getUser(reader: Reader, user: string): Promise<User> {
  const found = await findUser(reader, user)
  if (!found) throw unknownUser(user)
  return found
}

/** The link that `createSetUpLink` made last, where this is it and it still works. */
async function findSetUpLink(reader: Reader, hash: Uint8Array, now: number): Promise<{ id: number } | undefined> {
  const link = await findLink(reader, { hash, now })
  return link?.purpose === 'set_up' ? link : undefined
}

export type PeopleService = ReturnType<typeof createPeopleService>

export function createPeopleService({ db, clock }: { db: Database; clock: Clock }) {
  const heldOrganization = new Cached(getOrganization)
  const hashing = new Hashing()
  const attempts = new Attempts(clock)
  const authentication = createAuthentication({ db, clock })
  const signIn = createSignIn({ db, clock, hashing, attempts })

  /**
   * Changes a person and looks afterwards whether an admin is left. In this order two admins cannot demote each other
   * at once: the change makes PostgreSQL lock the revision, so the second one sees what the first has done.
   */
  async function demote(tx: Tx, user: User, to: { role: Role } | { disabledAt: number }): Promise<User> {
    const changed = await updateUser(tx, user.id, to)
    const wasAdmin = user.role === 'admin' && user.disabledAt === null
    if (wasAdmin && !(await hasActiveAdmin(tx))) throw lastAdmin(user)
    return changed
  }

  return {
    authenticate: authentication.authenticate,
    signIn: signIn.signIn,
    authenticateSession: signIn.authenticateSession,
    signOut: signIn.signOut,
    ...createPasswords({ db, clock, hashing, attempts, getUser }),

    /**
     * Writes when tokens and sessions were last used, to the minute. What cannot be written now is kept for the next
     * time.
     */
    async flushLastUsed(): Promise<void> {
      await authentication.flushTokenUses()
      await signIn.flushSessionUses()
    },

    /** The organization's settings, held until they change. */
    organization: (reader: Reader = db.read): Organization | Promise<Organization> => heldOrganization.get(reader),

    /** Throws `validation_failed`, and `already_exists` where the e-mail address is taken. */
    async addUser({ email: givenEmail, name: givenName, role, password }: NewUser): Promise<User> {
      const [email, name] = [foldEmail(givenEmail), composeName(givenName)]
      refuse([
        ...faultsOfEmail(email, '/email'),
        ...faultsOfName(name, '/name'),
        ...faultsOfRole(role, '/role'),
        ...(password === undefined ? [] : faultsOfPassword(password, '/password')),
      ])
      // Outside the transaction: hashing is slow on purpose, and runs on a thread of its own.
      const passwordHash = password === undefined ? null : await hashing.hash(password)
      return db.write(async (tx) => {
        const user = await insertUser(tx, { email, name, role, passwordHash, now: clock.now() })
        if (!user) throw emailTaken(email)
        return user
      })
    },

    listUsers: () => listUsers(db.read),

    /** By e-mail address or `usr_` id; undefined where there is none. */
    findUser: (user: string) => findUser(db.read, user),

    /** Throws `last_admin` where nobody would be left to manage Tally. */
    async setRole(who: string, role: Role): Promise<User> {
      refuse(faultsOfRole(role, '/role'))
      return db.write(async (tx) => {
        const user = await getUser(tx, who)
        return user.role === role ? user : demote(tx, user, { role })
      })
    },

    /**
     * Signs a person out and stops their service and read tokens. Answers which of these were used in the last 30
     * days. Throws `last_admin` where nobody would be left to manage Tally.
     */
    disableUser: (who: string): Promise<{ user: User; tokensInUse: Token[] }> =>
      db.write(async (tx) => {
        const user = await getUser(tx, who)
        const now = clock.now()
        const tokensInUse = await listTokensInUse(tx, { createdBy: user.id, since: now - IN_USE_MS, now })
        if (user.disabledAt !== null) return { user, tokensInUse }
        const disabled = await demote(tx, user, { disabledAt: now })
        // Enabled again, they sign in again.
        await endSignInsOf(tx, { userId: user.id, now })
        await deleteLinksOf(tx, user.id)
        return { user: disabled, tokensInUse }
      }),

    /** Lets a disabled person and their tokens work again. */
    enableUser: (who: string): Promise<User> =>
      db.write(async (tx) => {
        const user = await getUser(tx, who)
        return user.disabledAt === null ? user : updateUser(tx, user.id, { disabledAt: null })
      }),

    /**
     * Makes a token. `secret` is the token itself: shown once, never stored.
     * Throws `forbidden` where the person's role may not have such a token.
     */
    createToken: ({
      kind,
      user: who,
      name: givenName,
      expiresAt,
      allowBills = false,
    }: NewToken): Promise<{ token: Token; secret: string }> =>
      db.write(async (tx) => {
        const user = await getUser(tx, who)
        const name = composeName(givenName)
        const now = clock.now()
        refuse([
          ...faultsOfName(name, '/name'),
          ...(expiresAt === undefined || expiresAt > now
            ? []
            : [{ pointer: '/expires_at', code: 'too_small', message: 'must be in the future' }]),
          ...(allowBills && kind !== 'svc'
            ? [{ pointer: '/allow', code: 'not_allowed', message: 'only service tokens can be allowed to send bills' }]
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
        ])
        if (kind === 'org' && !MAY_MAKE_ORGANIZATION_TOKENS.includes(user.role)) {
          throw refusedRole(user, 'An organization token', MAY_MAKE_ORGANIZATION_TOKENS)
        }
        if (allowBills && !MAY_SEND_BILLS.includes(user.role)) {
          throw refusedRole(user, 'A token that may send bills', MAY_SEND_BILLS)
        }
        const secret = newSecret(kind)
        const token = await insertToken(tx, {
          kind,
          name,
          hash: hashOfSecret(secret),
          hint: hintOfSecret(secret),
          createdBy: user.id,
          allowBills,
          expiresAt: expiresAt ?? null,
          now,
        })
        return { token, secret }
      }),

    /** Newest first, of one person or of everybody, with the state that each is in now. */
    async listTokens(who?: string): Promise<{ token: Token; state: TokenState }[]> {
      const tokens = await listTokens(db.read, who === undefined ? undefined : (await getUser(db.read, who)).id)
      const now = clock.now()
      return tokens.map((token) => ({ token, state: stateOfToken(token, now) }))
    },

    /** Works at once, also in a server that runs. One that was revoked before keeps its moment. */
    revokeToken: (uid: string): Promise<Token> =>
      db.write(async (tx) => {
        const token = isId('tok', uid) ? await findTokenByUid(tx, uid) : undefined
        if (!token) throw unknownToken(uid)
        if (token.revokedAt !== null) return token
        const revokedAt = clock.now()
        await updateTokenRevoked(tx, token.id, revokedAt)
        return { ...token, revokedAt }
      }),

    /** Whether anybody is there: with the first person, made on the command line or by the link, set-up is over. */
    isSetUp: () => hasUsers(db.read),

    /** A link below `baseUrl` by which the first visitor sets Tally up. Earlier links stop working. */
    async createSetUpLink(baseUrl: string): Promise<string> {
      const secret = randomBase62(LINK_CHARACTERS)
      const createdAt = clock.now()
      const expiresAt = createdAt + SET_UP_LINK_MS
      await db.write(async (tx) => {
        await deleteSetUpLinks(tx)
        await insertLink(tx, { purpose: 'set_up', userId: null, hash: hashOfSecret(secret), createdAt, expiresAt })
      })
      // After the #, so that it reaches neither the server's log nor a proxy's.
      return `${baseUrl}/setup#${secret}`
    },

    /**
     * Names the organization, makes its first admin and signs them in. Throws `already_set_up` where somebody is there already,
     * `unauthenticated` for a wrong or old link.
     */
    async setUp({
      linkToken,
      organization: given,
      admin,
    }: SetUp): Promise<{ user: User; organization: Organization; signedIn: SignedIn }> {
      const hash = hashOfSecret(linkToken)
      // Before anything else, so that only who has the link makes Tally hash passwords.
      if (await hasUsers(db.read)) throw alreadySetUp()
      if (!(await findSetUpLink(db.read, hash, clock.now()))) throw wrongLink()
      const settings = { ...given, name: composeName(given.name) }
      const person = { email: foldEmail(admin.email), name: composeName(admin.name) }
      refuse([
        ...faultsOfName(settings.name, '/organization/name'),
        ...faultsOfTimeZone(settings.timeZone, '/organization/time_zone'),
        ...faultsOfCurrency(settings.currency, '/organization/currency'),
        ...faultsOfEmail(person.email, '/admin/email'),
        ...faultsOfName(person.name, '/admin/name'),
        ...faultsOfPassword(admin.password, '/admin/password'),
      ])
      const passwordHash = await hashing.hash(admin.password)
      return db.write(async (tx) => {
        const now = clock.now()
        const link = await findSetUpLink(tx, hash, now)
        if (!link || !(await markLinkUsed(tx, link.id, now)) || (await hasUsers(tx))) throw alreadySetUp()
        await updateOrganization(tx, { ...settings, setUpAt: now })
        const { id: userId } = (await insertUser(tx, { ...person, role: 'admin', passwordHash, now }))!
        const user = (await updateLastSignedIn(tx, { userId, passwordHash, now }))!
        return { user, organization: await getOrganization(tx), signedIn: await beginSession(tx, user, now) }
      })
    },
  }
}
