/** Examples in the OpenAPI document. */
import type { Preferences } from './preferences/schema.ts'
import type {
  CreatedToken,
  DisabledUser,
  FurtherEmails,
  Me,
  NewToken,
  NewUser,
  PasswordLinkBody,
  SessionList,
  SetUpAnswer,
  SetUpRequest,
  TokenBody,
  UserBody,
} from './schema.ts'

export const EXAMPLE_USER: UserBody = {
  id: 'usr_01a1fa172a0277f3983322718874f2e0',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'admin',
  has_password: true,
  created_at: '2026-11-20T17:53:04.000Z',
  last_signed_in_at: '2026-11-20T17:53:04.000Z',
  disabled_at: null,
  erased_at: null,
}

export const EXAMPLE_ME: Me = {
  kind: 'service',
  token: {
    id: 'tok_01a1fa172a0277f3983322718874f2ef',
    kind: 'svc',
    name: 'ci',
    hint: 'k3Rw0p',
    allow_bills: false,
    scopes: null,
    expires_at: '2027-02-18T17:53:04.000Z',
    limit: null,
  },
  session: null,
  person: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada', email: 'ada@example.com', role: 'admin' },
  acts_for: [],
  organization: { name: 'Acme', time_zone: 'Europe/Berlin' },
}

export const EXAMPLE_SET_UP: SetUpRequest = {
  link_token: '0Zk3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE',
  organization: {
    name: 'Acme',
    time_zone: 'Europe/Berlin',
    currency: 'EUR',
    locale: 'de-DE',
    public_url: 'https://tally.example.com',
  },
  admin: { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' },
}

export const EXAMPLE_SET_UP_ANSWER: SetUpAnswer = {
  user: EXAMPLE_USER,
  organization: { name: 'Acme', time_zone: 'Europe/Berlin', currency: 'EUR' },
}

export const EXAMPLE_SESSION: Me = {
  kind: 'session',
  token: null,
  session: { signed_in_at: '2026-11-20T17:53:04.000Z', expires_at: '2026-12-20T17:53:04.000Z' },
  person: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada', email: 'ada@example.com', role: 'admin' },
  acts_for: [],
  organization: { name: 'Acme', time_zone: 'Europe/Berlin' },
}

export const EXAMPLE_PREFERENCES: Preferences = {
  locale: null,
  week_start: 'sunday',
  density: 'compact',
  tables: { entries: { columns: ['summary', 'cost'], widths: { cost: 120 } } },
}

export const EXAMPLE_PROFILE: Me = {
  ...EXAMPLE_SESSION,
  notifications: { budget_alerts: true, attention: false, weekly_summary: true, anomalies: false },
  sends_email: true,
  preferences: EXAMPLE_PREFERENCES,
}

export const EXAMPLE_SESSIONS: SessionList = {
  data: [
    {
      signed_in_at: '2026-11-20T17:53:04.000Z',
      last_seen_at: '2026-11-20T18:10:00.000Z',
      expires_at: '2026-12-20T17:53:04.000Z',
      current: true,
    },
  ],
}

export const EXAMPLE_NEW_USER: NewUser = { email: 'grace@example.com', name: 'Grace', role: 'billing' }

const EXAMPLE_INVITED: UserBody = {
  ...EXAMPLE_USER,
  ...EXAMPLE_NEW_USER,
  id: 'usr_01a1fa172a0277f3983322718874f2e4',
  has_password: false,
  last_signed_in_at: null,
}

export const EXAMPLE_EMAILS: FurtherEmails = { emails: ['ada@users.example.com', 'ada.lovelace@example.com'] }

export const EXAMPLE_LINK: PasswordLinkBody = {
  user: EXAMPLE_INVITED,
  link: 'https://tally.example.com/password#0Zk3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE',
  expires_at: '2026-11-27T17:53:04.000Z',
}

export const EXAMPLE_NEW_TOKEN: NewToken = { kind: 'svc', name: 'ci', expires_at: '2027-02-18T17:53:04Z' }

export const EXAMPLE_TOKEN: TokenBody = {
  id: 'tok_01a1fa172a0277f3983322718874f2ef',
  kind: 'svc',
  name: 'ci',
  hint: 'k3Rw0p',
  state: 'usable',
  user: { id: EXAMPLE_USER.id, email: 'ada@example.com', name: 'Ada' },
  allow_bills: false,
  scopes: null,
  networks: null,
  created_at: '2026-11-20T17:53:04.000Z',
  expires_at: '2027-02-18T17:53:04.000Z',
  last_used_at: '2026-11-20T18:10:00.000Z',
  revoked_at: null,
}

export const EXAMPLE_CREATED_TOKEN: CreatedToken = {
  ...EXAMPLE_TOKEN,
  token: 'tally_svc_k3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE0Z000000',
  last_used_at: null,
}

export const EXAMPLE_REVOKED_TOKEN: TokenBody = {
  ...EXAMPLE_TOKEN,
  state: 'revoked',
  revoked_at: '2026-11-21T08:00:00.000Z',
}

export const EXAMPLE_DISABLED: DisabledUser = {
  ...EXAMPLE_USER,
  disabled_at: '2026-11-21T08:00:00.000Z',
  tokens_in_use: [{ ...EXAMPLE_TOKEN, state: 'stopped' }],
}
