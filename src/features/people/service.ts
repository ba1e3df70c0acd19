/** People, their roles and tokens, the organization's settings, and the first-run set-up. */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditService } from '../audit/service.ts'
import { Attempts } from './attempts.ts'
import { createAuthentication } from './authentication.ts'
import { createEmails, type FurtherEmails } from './emails.ts'
import { Hashing } from './hashing.ts'
import type { PasswordHasher } from './hashing-thread.ts'
import { createPasswords, type MadeLink } from './passwords.ts'
import { createSetUp } from './set-up.ts'
import { commonSettingsBody, createSettings, settingsBody } from './settings.ts'
import { createSignIn, type OwnSession, type SignedIn } from './sign-in.ts'
import { createSignInNotices, type NoticeMail } from './sign-in-notices.ts'
import type { Organization } from './store/organization.ts'
import type { User } from './store/users.ts'
import type { Token, TokenState } from './token.ts'
import { createTokens, EVERYBODYS_TOKENS, type ListedToken, tokensSeenBy } from './tokens.ts'
import { createUsers, getUser, userObject } from './users.ts'

export type { Caller, CallerKind, CallerOf, Person } from './caller.ts'
export {
  ADDRESS_LIMIT,
  issuesOfCurrency,
  issuesOfEmail,
  issuesOfGiven,
  issuesOfName,
  issuesOfText,
  LOGO_TYPES,
  MARKUP_DIGITS,
  MARKUP_EXPECTED,
  MARKUP_MAX,
  MARKUP_MIN,
  parseMarkup,
} from './rules.ts'
export type { FurtherEmails, ListedToken, MadeLink, Organization, OwnSession, SignedIn, Token, TokenState, User }
export { commonSettingsBody, EVERYBODYS_TOKENS, settingsBody, tokensSeenBy }

export type PeopleService = ReturnType<typeof createPeopleService>

export interface PeopleDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  /** By which people learn that strangers try their passwords; undefined where no e-mail can be sent. */
  mail?: NoticeMail | undefined
  /** What hashes passwords, where it is not the usual thread. */
  hasher?: PasswordHasher
}

export function createPeopleService({ db, clock, audit, mail, hasher }: PeopleDependencies) {
  const hashing = new Hashing(hasher)
  const notices = createSignInNotices({ db, clock, audit, mail })
  const attempts = new Attempts(clock, notices.notice)
  const authentication = createAuthentication({ db, clock })
  const { flushSessionUses, ...signIn } = createSignIn({ db, clock, audit, hashing, attempts })

  return {
    authenticate: authentication.authenticate,
    watchSignIns: notices.watch,
    ...signIn,
    ...createPasswords({ db, clock, audit, hashing, attempts, getUser }),
    ...createUsers({ db, clock, audit, hashing }),
    ...createEmails({ db, audit, getUser, userObject }),
    ...createTokens({ db, clock, audit }),
    ...createSettings({ db, audit }),
    ...createSetUp({ db, clock, audit, hashing }),

    /**
     * Writes when tokens and sessions were last used, to the minute. What cannot be written now is kept for the next
     * time.
     */
    async flushLastUsed(): Promise<void> {
      await authentication.flushTokenUses()
      await flushSessionUses()
    },
  }
}
