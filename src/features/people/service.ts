/** People, their roles and tokens, sign-in, and the first-run setup. */
import type { SessionCaller } from '../../access/caller.ts'
import type { Database } from '../../database/database.ts'
import { validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import type { AuditService } from '../audit/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { createDeputies } from './deputies/deputies.ts'
import { issuesOfPeople } from './known-people.ts'
import { Hashing } from './passwords/hashing.ts'
import type { PasswordHasher } from './passwords/hashing-thread.ts'
import { createPasswords, type MadeLink } from './passwords/passwords.ts'
import { createPreferences } from './preferences/preferences.ts'
import { Attempts } from './sign-in/attempts.ts'
import { createAuthentication, type Standing } from './sign-in/authentication.ts'
import { createSignInLinks } from './sign-in/link.ts'
import { createSignInNotices, type NoticeMail } from './sign-in/notices.ts'
import { createSignIn, type OwnSession } from './sign-in/sign-in.ts'
import type { Grant, GrantExtent, GrantTarget } from './store/grants.ts'
import type { User } from './store/users.ts'
import { type Calls, shareCalls } from './tokens/shared-calls.ts'
import type { Token, TokenCaller, TokenState } from './tokens/token.ts'
import { EVERYBODYS_TOKENS } from './tokens/token.ts'
import { createTokens, type ListedToken } from './tokens/tokens.ts'
import { TRUST_TOKEN_KINDS, type TrustTokenKind, trustTokens } from './tokens/trust-tokens.ts'
import { createEmails } from './users/emails.ts'
import { createSetUp } from './users/set-up.ts'
import { createUsers, getAccount, getUser, notificationChoice, userObject } from './users/users.ts'
import { createGrants } from './viewers/grants.ts'
import { issuesOfViewer } from './viewers/role.ts'

export type {
  Grant,
  GrantExtent,
  GrantTarget,
  ListedToken,
  MadeLink,
  NoticeMail,
  OwnSession,
  Standing,
  Token,
  TokenState,
  TrustTokenKind,
  User,
}
export { EVERYBODYS_TOKENS, issuesOfPeople, issuesOfViewer, notificationChoice, TRUST_TOKEN_KINDS }

export type PeopleService = ReturnType<typeof createPeopleService>

export interface PeopleDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: OrganizationService
  /** Notifies people of failed sign-in attempts; undefined if no e-mail can be sent. */
  mail?: NoticeMail | undefined
  /** Replaces the default hashing thread. */
  hasher?: PasswordHasher | undefined
}

/** When tokens were last used is kept to the minute; half of one loses nothing that anyone looks at. */
const FLUSH_LAST_USED_MS = 30_000

export function createPeopleService({ db, clock, audit, organization, mail, hasher }: PeopleDependencies) {
  const hashing = new Hashing(hasher)
  const notices = createSignInNotices({ db, clock, audit, organization, mail })
  const attempts = new Attempts(db, clock, notices.notice)
  const authentication = createAuthentication({ db, clock, organization })
  const { flushSessionUses, authenticateSession, ...signIn } = createSignIn({ db, clock, audit, hashing, attempts })
  const { withRepresented, ...deputies } = createDeputies({ db, clock, audit, organization })

  /** Only who reads or decides can be a deputy: a service token pays nothing. */
  const represented = (caller: TokenCaller) =>
    caller.kind === 'read' || caller.kind === 'api' ? withRepresented<TokenCaller>(caller) : caller

  /** Saves when tokens and sessions were last used. Times that can't be saved are kept for the next call. */
  async function flushLastUsed(): Promise<void> {
    await authentication.flushTokenUses()
    await flushSessionUses()
  }

  return {
    /** The caller of an `Authorization` header. Not a promise if everything that this needs is cached. */
    authenticate(authorization: string): TokenCaller | Promise<TokenCaller> {
      const known = authentication.authenticate(authorization)
      if (known instanceof Promise) return known.then(represented)
      return represented(known)
    },

    /** The same for the secret of a session. */
    authenticateSession(secret: string): SessionCaller | Promise<SessionCaller> {
      const known = authenticateSession(secret)
      return known instanceof Promise ? known.then(withRepresented) : withRepresented(known)
    },

    /** Undefined where no other server can use the database. */
    shareCalls:
      db.engine === 'postgres'
        ? (calls: readonly Calls[], now: number): Promise<number[]> => shareCalls(db, calls, now)
        : undefined,

    standing: authentication.standing,

    watchSignIns: notices.watch,
    ...signIn,
    ...deputies,
    ...createSignInLinks({ db, clock, audit, getUser: getAccount }),
    ...createPasswords({ db, clock, audit, hashing, attempts, getUser: getAccount }),
    ...createUsers({ db, clock, audit, hashing }),
    ...createEmails({ db, audit, getUser, getAccount, userObject }),
    ...createGrants({ db, clock, audit, getUser, getAccount, userObject }),
    ...createPreferences({ db }),
    ...createTokens({ db, clock, audit, organization }),
    ...trustTokens,
    ...createSetUp({ db, clock, audit, organization, hashing }),

    /** Throws 422 if nobody has one of these ids or e-mail addresses. Only for callers who may list people. */
    async requireKnown(values: readonly string[] | undefined, pointer: string): Promise<void> {
      const issues = await issuesOfPeople(db.read, values, pointer)
      if (issues.length > 0) throw validationFailed(issues)
    },

    flushLastUsed,

    jobs: [
      new Job({
        name: 'last-uses',
        task: 'store when tokens were last used',
        everyMs: FLUSH_LAST_USED_MS,
        run: flushLastUsed,
        savesRequests: true,
      }),
    ],
  }
}
