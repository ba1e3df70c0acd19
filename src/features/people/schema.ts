/** API schema of people and tokens, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { Caller } from '../../access/caller.ts'
import { type NotificationTopic, ROLES, TOKEN_KINDS, type TokenKind } from '../../database/schema/values.ts'
import { type CsvColumn, fieldColumns } from '../../lib/csv-column.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { conditions, isOneOf, when } from '../../schema/conditions.ts'
import { PASSWORD_LIMIT, PASSWORD_MIN } from '../../schema/fields.ts'
import {
  array,
  chosen,
  component,
  emailAddress,
  flag,
  givenName,
  integer,
  listOf,
  moment,
  number,
  object,
  oneOf,
  orNull,
  SHOWN,
  strict,
  text,
} from '../../schema/types.ts'
import { SCOPE_NAMES, SCOPES, type Scope } from '../../shared/token-scopes.ts'
import { Preferences } from './preferences/schema.ts'
import type { ListedToken, MadeLink, OwnSession, Token, TokenState, User } from './service.ts'
import { NETWORKS_LIMIT } from './tokens/api-token.ts'
import { TOKEN_STATES, type TokenCaller } from './tokens/token.ts'

const CALLER_KINDS = ['service', 'read', 'organization', 'api', 'session'] as const satisfies Caller['kind'][]

/** A component, so that generated clients have one type for the kinds, wherever they occur. */
export const KIND_OF_TOKEN = {
  type: 'string' as const,
  enum: [...TOKEN_KINDS],
  $id: 'TokenKind',
  description:
    'Kind of a token: `svc` (service token) reports entries that belong to its creator, `read` reads entries, reports, work and prices that its creator can see, `org` (organization token) pushes telemetry, `api` does what its scopes and the role of its creator allow.',
}

export const TokenKindText = Type.String(KIND_OF_TOKEN) as unknown as TUnsafe<TokenKind>

const SCOPES_OF_TOKEN = orNull(array('What an API token may do; null for other tokens.', oneOf(SCOPE_NAMES)))

/** What people can be sent e-mails about: at most one e-mail an hour. */
const TOPICS = {
  budget_alerts: flag('Alerts of budgets whose thresholds name you, your role or the leads of your projects.'),
  attention: flag(
    'Each working day, what needs attention among the entries that you see: unattributed, unpriced, waiting for approval. Nothing if there is nothing.',
  ),
  weekly_summary: flag(
    'Each week, your usage and that of the projects that you lead; that of everyone for billing and admins.',
  ),
  anomalies: flag('Each day, usage far above what is usual: yours, or everyone’s for billing and admins.'),
} satisfies Record<NotificationTopic, TSchema>

export const Me = component('Me', 'The authenticated caller.', {
  kind: Type.Unsafe<Caller['kind']>({
    ...oneOf(
      CALLER_KINDS,
      'Use `token.kind`, which has the names of all other operations; `token` is null for a signed-in person. Here, `service` is `svc` and `organization` is `org`.',
    ),
    deprecated: true,
  }),
  token: orNull(
    object('Null for a signed-in person.', {
      id: Type.String({ examples: ['tok_01a1fa172a0277f3983322718874f2ef'] }),
      kind: TokenKindText,
      name: Type.String(),
      hint: text('The first characters after the prefix, which identify the token in lists.'),
      allow_bills: flag('Whether it may send bills.'),
      scopes: SCOPES_OF_TOKEN,
      expires_at: orNull(moment('When the token expires; null if it does not expire.')),
      limit: orNull(
        object('What the token of a job is limited to. Null for tokens that people create.', {
          project: text('Key of the project.'),
          trust: text('Id of the trust (tru_…).'),
        }),
      ),
    }),
  ),
  session: orNull(
    object('Null for a token.', {
      signed_in_at: moment('When the person signed in.'),
      expires_at: moment('When the session expires; it ends earlier after a week without requests.'),
    }),
  ),
  person: object(
    'The signed-in person, or the creator of the token, who is the agent manager of entries reported with a service token.',
    {
      id: Type.String({ examples: ['usr_01a1fa172a0277f3983322718874f2ef'] }),
      name: Type.String(),
      email: emailAddress(),
      role: oneOf(ROLES, 'The role determines the access of the person, and limits that of their tokens.'),
    },
  ),
  acts_for: array(
    'The people for whom the person approves at the moment, as their deputy.',
    object({ id: Type.String(), name: Type.String() }),
  ),
  organization: object({
    name: Type.String(),
    time_zone: text('IANA time zone for the boundaries of days and months.'),
  }),
  notifications: Type.Optional(
    object(
      'What you are sent e-mails about, if Tally can send any (`sends_email`). Only in responses of `/me` to signed-in people, except for viewers, who get none.',
      TOPICS,
    ),
  ),
  sends_email: Type.Optional(flag('Whether a mail server and a sender address are configured. With `notifications`.')),
  preferences: Type.Optional(Preferences),
  has_password: Type.Optional(
    flag('Whether the person can sign in with a password. Only in responses of `/me` to signed-in people.'),
  ),
  program: Type.Optional(
    text(
      'How a shell of the machine of the server calls Tally, such as `tally`. Only in the response of `GET /me` to signed-in people, of a server that other machines cannot reach.',
    ),
  ),
  held_entries: Type.Optional(
    integer(
      'Entries of the person that are held because another person has reported the same sessions. Only in the response of `GET /me` to a service token.',
    ),
  ),
})
export type Me = Static<typeof Me>

export const SetUpRequest = component('SetUpRequest', 'First-run setup of the organization and its first admin.', {
  link_token: text('The part after `#` in the one-time link that `tally serve` prints.'),
  organization: object({
    name: givenName('Name of the organization, as shown on bills.', ['Acme']),
    time_zone: text('IANA time zone for the boundaries of days and months.', { examples: ['Europe/Berlin'] }),
    currency: text('ISO 4217 code of the default bill currency.', { examples: ['EUR'] }),
    locale: Type.Optional(
      orNull(
        text('BCP 47 tag of the locale that writes dates and numbers. Null or absent to choose it later.', {
          examples: ['de-DE'],
        }),
      ),
    ),
    public_url: Type.Optional(
      orNull(
        text(
          'The address at which people and agents reach this server, which links begin with: `http://` or `https://`, and nothing after the host and port. Null or absent to set it later.',
          { examples: ['https://tally.example.com'] },
        ),
      ),
    ),
  }),
  admin: object('The first person, who becomes an admin.', {
    email: emailAddress({ description: 'E-mail address to sign in with.', examples: ['ada@example.com'] }),
    name: givenName('Name of the person.', ['Ada']),
    password: text(`Password to sign in with, ${PASSWORD_MIN} to ${PASSWORD_LIMIT} characters.`),
  }),
})
export type SetUpRequest = Static<typeof SetUpRequest>

const password = (description: string) => text(description, { minLength: PASSWORD_MIN, maxLength: PASSWORD_LIMIT })

/** For passwords that are verified: one that is too short for a new password is simply wrong. */
const knownPassword = (description: string) => text(description, { minLength: 1, maxLength: PASSWORD_LIMIT })

export const SignInRequest = component('SignInRequest', 'Credentials to sign in with.', {
  email: emailAddress({ description: 'E-mail address of the person.', minLength: 1, maxLength: 254 }),
  password: knownPassword('Password of the person.'),
})
export type SignInRequest = Static<typeof SignInRequest>

export const LinkSignIn = component('LinkSignIn', 'A one-time link to sign in with.', {
  link_token: text('The part after `#` in the link that `tally up` opens.', { minLength: 1, maxLength: 100 }),
})
export type LinkSignIn = Static<typeof LinkSignIn>

export const PasswordChange = component('PasswordChange', 'A change of your password.', {
  current: knownPassword('Your current password.'),
  new: password('Your new password.'),
})
export type PasswordChange = Static<typeof PasswordChange>

export const PasswordChoice = component('PasswordChoice', 'A new password, set with a one-time link.', {
  link_token: text('The part after `#` in the one-time link.', { minLength: 1, maxLength: 100 }),
  password: password('The new password.'),
})
export type PasswordChoice = Static<typeof PasswordChoice>

export const UserBody = component('User', 'A person.', {
  id: Type.String({ examples: ['usr_01a1fa172a0277f3983322718874f2ef'] }),
  email: emailAddress(),
  name: Type.String(),
  role: oneOf(ROLES, 'Determines what the person can see and do.'),
  has_password: flag('Whether the person has a password. Without one they can own tokens but not sign in.'),
  created_at: moment('When the person was added.'),
  last_signed_in_at: orNull(moment('When the person last signed in; null if never.')),
  disabled_at: orNull(moment('When the person was disabled; a disabled person cannot sign in or use their tokens.')),
  erased_at: orNull(moment('When the personal data was erased; the name and the address are pseudonyms since.')),
})
export type UserBody = Static<typeof UserBody>

export const UserList = listOf(UserBody, 'UserList', 'People, most recently added first.')

const email = emailAddress({ description: 'E-mail address to sign in with.', examples: ['grace@example.com'] })

export const NewUser = component('NewUser', 'A person to invite.', {
  email,
  name: givenName('Name of the person.', ['Grace']),
  role: chosen(ROLES, 'Role, which determines what the person can see and do.'),
})
export type NewUser = Static<typeof NewUser>

export const UserChange = Type.Partial(NewUser, {
  ...strict,
  $id: 'UserChange',
  description: 'Changes to a person. Absent fields stay unchanged.',
})
export type UserChange = Static<typeof UserChange>

export const ProfileChange = Type.Partial(
  Type.Object({
    name: givenName('Your name, as shown to others.', ['Ada']),
    notifications: Type.Partial(Type.Object(TOPICS), {
      ...strict,
      description: 'What you are sent e-mails about. Absent topics stay unchanged.',
    }),
  }),
  { ...strict, $id: 'ProfileChange', description: 'Changes to your profile. Absent fields stay unchanged.' },
)
export type ProfileChange = Static<typeof ProfileChange>

export const PasswordLinkBody = component('PasswordLink', 'A one-time link with which a person sets a password.', {
  user: UserBody,
  link: text(
    'Opens the page on which the person sets a password; works once. Tally does not send it, so give it to the person yourself.',
    { examples: ['https://tally.example.com/password#0Zk3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE'] },
  ),
  expires_at: moment('When the link expires.'),
})
export type PasswordLinkBody = Static<typeof PasswordLinkBody>

export const SessionList = component('SessionList', 'Sessions of a person, most recently started first.', {
  data: Type.Array(
    object({
      signed_in_at: moment('When the session started.'),
      last_seen_at: moment('Time of the last request, to the minute.'),
      expires_at: moment('When the session expires; it ends earlier after a week without requests.'),
      current: flag('Whether this is the session of the request.'),
    }),
  ),
})
export type SessionList = Static<typeof SessionList>

export const SetUpAnswer = component('SetUpAnswer', 'The result of the setup.', {
  user: UserBody,
  organization: object({ name: Type.String(), time_zone: Type.String(), currency: Type.String() }),
})
export type SetUpAnswer = Static<typeof SetUpAnswer>

export const TokenBody = component('Token', 'A token, without its secret.', {
  id: Type.String({ examples: ['tok_01a1fa172a0277f3983322718874f2ef'] }),
  kind: TokenKindText,
  name: Type.String(),
  hint: text('The first characters after the prefix.'),
  state: oneOf(TOKEN_STATES, '`stopped` means that its creator is disabled.'),
  user: object({ id: Type.String(), email: emailAddress(), name: Type.String() }),
  allow_bills: Type.Boolean(),
  scopes: SCOPES_OF_TOKEN,
  networks: orNull(array('Addresses and networks from which an API token works; null for any.', Type.String())),
  created_at: moment('When the token was created.'),
  expires_at: orNull(moment('When the token expires; null if it does not expire.')),
  last_used_at: orNull(moment('When the token was last used, to the minute; null if never.')),
  revoked_at: orNull(moment('When the token was revoked.')),
})
export type TokenBody = Static<typeof TokenBody>

export const TokenList = listOf(TokenBody, 'TokenList', 'Tokens, newest first.')

/** Two weeks: whoever needs longer creates another token. */
const OVERLAP_HOURS_LIMIT = 336

/** Permissions that a token may have in addition to those of its kind. */
const ALLOWANCES = ['bills'] as const

export const NewToken = component(
  'NewToken',
  'A token to create.',
  {
    kind: TokenKindText,
    name: givenName('Purpose of the token, as shown in lists.', ['ci']),
    expires_at: Type.Optional(
      orNull(
        text(
          'When the token expires: a timestamp with a UTC offset, or a date, which means the first moment of that day in the organization’s time zone. Absent or null means never, and for an API token in 90 days, at most in 366.',
          { examples: ['2027-02-18T17:53:04Z'] },
        ),
      ),
    ),
    scopes: Type.Optional(
      array(
        `What an API token may do, as far as your role allows at the time of each call; required for one, and only for one. Any scope of an area includes its \`read\`. ${SCOPE_NAMES.map((scope) => `\`${scope}\`: ${SCOPES[scope].description}.`).join(' ')}`,
        Type.String(),
        { maxItems: SCOPE_NAMES.length, examples: [['projects:write']] },
      ),
    ),
    networks: Type.Optional(
      array('IP addresses and networks from which an API token works; any by default.', Type.String(), {
        maxItems: NETWORKS_LIMIT,
        examples: [['10.0.0.0/8']],
      }),
    ),
    allow: Type.Optional(
      Type.Array(chosen(ALLOWANCES, '`bills` allows a service token to send bills.'), { maxItems: 10 }),
    ),
  },
  {
    ...conditions(
      when(
        isOneOf('kind', 'api'),
        { required: ['scopes'], properties: { scopes: { type: 'array', minItems: 1 } } },
        { properties: { scopes: { maxItems: 0 }, networks: { maxItems: 0 } } },
      ),
      when(isOneOf('kind', 'svc'), undefined, { properties: { allow: { maxItems: 0 } } }),
    ),
  },
)
export type NewToken = Static<typeof NewToken>

export const TokenRotation = component('TokenRotation', {
  overlap_hours: Type.Optional(
    number('How long the old token keeps working, in hours; 24 by default.', {
      minimum: 0,
      maximum: OVERLAP_HOURS_LIMIT,
    }),
  ),
})

export const CreatedToken = component('CreatedToken', 'A new token with its secret.', {
  ...TokenBody.properties,
  token: text('The token itself. It is shown only once and not stored.'),
})
export type CreatedToken = Static<typeof CreatedToken>

export const FurtherEmails = component(
  'FurtherEmails',
  'Additional e-mail addresses that match telemetry to a person. They cannot be used to sign in.',
  {
    emails: array(
      'Up to 20 addresses, none of which may belong to another person.',
      emailAddress({ description: 'An e-mail address.', examples: ['ada@users.example.com'] }),
      { [SHOWN]: { maxItems: 20 } },
    ),
  },
)
export type FurtherEmails = Static<typeof FurtherEmails>

export const DisabledUser = component('DisabledUser', 'A person who was disabled.', {
  ...UserBody.properties,
  tokens_in_use: array('Tokens of the person that were used in the last 30 days and no longer work.', TokenBody),
})
export type DisabledUser = Static<typeof DisabledUser>

const KIND_OF = { service: 'svc', read: 'read', organization: 'org', api: 'api' } as const satisfies Record<
  TokenCaller['kind'],
  TokenKind
>

export function meBody(caller: Caller, { name, timeZone }: { name: string; timeZone: string }): Me {
  const { kind, person } = caller
  return {
    kind,
    token: kind === 'session' ? null : { kind: KIND_OF[kind], ...callingToken(caller.token) },
    session:
      kind === 'session'
        ? { signed_in_at: timestamp(caller.session.signedInAt), expires_at: timestamp(caller.session.expiresAt) }
        : null,
    person: { id: person.uid, name: person.name, email: person.email, role: person.role },
    acts_for: (person.actsFor ?? []).map(({ uid, name }) => ({ id: uid, name })),
    organization: { name, time_zone: timeZone },
  }
}

function callingToken({
  uid,
  name,
  hint,
  allowBills,
  scopes,
  expiresAt,
  limit,
}: TokenCaller['token']): Omit<NonNullable<Me['token']>, 'kind'> {
  return {
    id: uid,
    name,
    hint,
    allow_bills: allowBills,
    scopes: scopes as Scope[] | null,
    expires_at: timestampOrNull(expiresAt),
    limit: limit && { project: limit.project, trust: limit.trust },
  }
}

export function userBody({
  uid,
  email,
  name,
  role,
  hasPassword,
  createdAt,
  lastSignedInAt,
  disabledAt,
  erasedAt,
}: User): UserBody {
  return {
    id: uid,
    email,
    name,
    role,
    has_password: hasPassword,
    created_at: timestamp(createdAt),
    last_signed_in_at: timestampOrNull(lastSignedInAt),
    disabled_at: timestampOrNull(disabledAt),
    erased_at: timestampOrNull(erasedAt),
  }
}

/** `state` is the current state. */
export function tokenBody({ creator, ...token }: Token, state: TokenState): TokenBody {
  return {
    id: token.uid,
    kind: token.kind,
    name: token.name,
    hint: token.hint,
    state,
    user: { id: creator.uid, email: creator.email, name: creator.name },
    allow_bills: token.allowBills,
    scopes: token.scopes as Scope[] | null,
    networks: token.networks,
    created_at: timestamp(token.createdAt),
    expires_at: timestampOrNull(token.expiresAt),
    last_used_at: timestampOrNull(token.lastUsedAt),
    revoked_at: timestampOrNull(token.revokedAt),
  }
}

export function disabledUserBody({ user, tokensInUse }: { user: User; tokensInUse: Token[] }): DisabledUser {
  return { ...userBody(user), tokens_in_use: tokensInUse.map((token) => tokenBody(token, 'stopped')) }
}

export function passwordLinkBody({ user, link, expiresAt }: MadeLink): PasswordLinkBody {
  return { user: userBody(user), link, expires_at: timestamp(expiresAt) }
}

/** `secret` is the token itself. */
export function createdTokenBody({ token, secret }: { token: Token; secret: string }): CreatedToken {
  const { id, ...body } = tokenBody(token, 'usable')
  return { id, token: secret, ...body }
}

export function listedTokenBody({ token, state }: ListedToken): TokenBody {
  return tokenBody(token, state)
}

export function sessionBody({ signedInAt, lastSeenAt, expiresAt, isCurrent }: OwnSession): SessionList['data'][number] {
  return {
    signed_in_at: timestamp(signedInAt),
    last_seen_at: timestamp(lastSeenAt),
    expires_at: timestamp(expiresAt),
    current: isCurrent,
  }
}

export const USER_COLUMNS: CsvColumn<UserBody>[] = [
  ...fieldColumns<UserBody>(
    'id',
    'name',
    'email',
    'role',
    'has_password',
    'created_at',
    'last_signed_in_at',
    'disabled_at',
    'erased_at',
  ),
]

export const TOKEN_COLUMNS: CsvColumn<TokenBody>[] = [
  ...fieldColumns<TokenBody>('id', 'kind', 'name', 'hint', 'state'),
  { heading: 'user', cell: ({ user }) => user.email },
  ...fieldColumns<TokenBody>('allow_bills', 'created_at', 'expires_at', 'last_used_at', 'revoked_at'),
  { heading: 'scopes', cell: ({ scopes }) => scopes?.join('; ') },
  { heading: 'networks', cell: ({ networks }) => networks?.join('; ') },
  { heading: 'user_id', cell: ({ user }) => user.id },
]
