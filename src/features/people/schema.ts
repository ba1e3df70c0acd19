/** API schema of people and tokens, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { Caller } from '../../access/caller.ts'
import { type NotificationTopic, ROLES, TOKEN_KINDS, type TokenKind } from '../../database/schema/values.ts'
import type { CsvColumn } from '../../lib/csv-column.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { conditions, isOneOf, when } from '../../schema/conditions.ts'
import { PASSWORD_LIMIT, PASSWORD_MIN } from '../../schema/fields.ts'
import { chosen, emailAddress, givenName, listOf, moment, oneOf, orNull, SHOWN, strict } from '../../schema/types.ts'
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

const TokenKindText = Type.String(KIND_OF_TOKEN) as unknown as TUnsafe<TokenKind>

const SCOPES_OF_TOKEN = orNull(
  Type.Array(oneOf(SCOPE_NAMES), { description: 'What an API token may do; null for other tokens.' }),
)

/** What people can be sent e-mails about: at most one e-mail an hour. */
const TOPICS = {
  budget_alerts: Type.Boolean({
    description: 'Alerts of budgets whose thresholds name you, your role or the leads of your projects.',
  }),
  attention: Type.Boolean({
    description:
      'Each working day, what needs attention among the entries that you see: unattributed, unpriced, waiting for approval. Nothing if there is nothing.',
  }),
  weekly_summary: Type.Boolean({
    description:
      'Each week, your usage and that of the projects that you lead; that of everybody for billing and admins.',
  }),
  anomalies: Type.Boolean({
    description: 'Each day, usage far above what is usual: yours, or everybody’s for billing and admins.',
  }),
} satisfies Record<NotificationTopic, TSchema>

export const Me = Type.Object(
  {
    kind: Type.Unsafe<Caller['kind']>({
      ...oneOf(
        CALLER_KINDS,
        'Use `token.kind`, which has the names of all other operations; `token` is null for a signed-in person. Here, `service` is `svc` and `organization` is `org`.',
      ),
      deprecated: true,
    }),
    token: orNull(
      Type.Object(
        {
          id: Type.String({ examples: ['tok_01a1fa172a0277f3983322718874f2ef'] }),
          kind: TokenKindText,
          name: Type.String(),
          hint: Type.String({
            description: 'The first characters after the prefix, which identify the token in lists.',
          }),
          allow_bills: Type.Boolean({ description: 'Whether it may send bills.' }),
          scopes: SCOPES_OF_TOKEN,
          expires_at: orNull(moment('When the token expires; null if it does not expire.')),
        },
        { ...strict, description: 'Null for a signed-in person.' },
      ),
    ),
    session: orNull(
      Type.Object(
        {
          signed_in_at: moment('When the person signed in.'),
          expires_at: moment('When the session expires; it ends earlier after a week without requests.'),
        },
        { ...strict, description: 'Null for a token.' },
      ),
    ),
    person: Type.Object(
      {
        id: Type.String({ examples: ['usr_01a1fa172a0277f3983322718874f2ef'] }),
        name: Type.String(),
        email: emailAddress(),
        role: oneOf(ROLES, 'The role determines the access of the person, and limits that of their tokens.'),
      },
      {
        ...strict,
        description:
          'The signed-in person, or the creator of the token, who is the agent manager of entries reported with a service token.',
      },
    ),
    acts_for: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }, strict), {
      description: 'The people for whom the person approves at the moment, as their deputy.',
    }),
    organization: Type.Object(
      {
        name: Type.String(),
        time_zone: Type.String({ description: 'IANA time zone for the boundaries of days and months.' }),
      },
      strict,
    ),
    notifications: Type.Optional(
      Type.Object(TOPICS, {
        ...strict,
        description:
          'What you are sent e-mails about, if Tally can send any (`sends_email`). Only in responses of `/me` to signed-in people, except for viewers, who get none.',
      }),
    ),
    sends_email: Type.Optional(
      Type.Boolean({ description: 'Whether a mail server and a sender address are configured. With `notifications`.' }),
    ),
    preferences: Type.Optional(Preferences),
    held_entries: Type.Optional(
      Type.Integer({
        description:
          'Entries of the person that are held because another person has reported the same sessions. Only in the response of `GET /me` to a service token.',
      }),
    ),
  },
  { ...strict, $id: 'Me', description: 'The authenticated caller.' },
)
export type Me = Static<typeof Me>

export const SetUpRequest = Type.Object(
  {
    link_token: Type.String({
      description: 'The part after `#` in the one-time link that `tally serve` prints.',
    }),
    organization: Type.Object(
      {
        name: givenName('Name of the organization, as shown on bills.', ['Acme']),
        time_zone: Type.String({
          description: 'IANA time zone for the boundaries of days and months.',
          examples: ['Europe/Berlin'],
        }),
        currency: Type.String({ description: 'ISO 4217 code of the default bill currency.', examples: ['EUR'] }),
        public_url: Type.Optional(
          orNull(
            Type.String({
              description:
                'The address at which people and agents reach this server, which links begin with: `http://` or `https://`, and nothing after the host and port. Null or absent to set it later.',
              examples: ['https://tally.example.com'],
            }),
          ),
        ),
      },
      strict,
    ),
    admin: Type.Object(
      {
        email: emailAddress({ description: 'E-mail address to sign in with.', examples: ['ada@example.com'] }),
        name: givenName('Name of the person.', ['Ada']),
        password: Type.String({
          description: `Password to sign in with, ${PASSWORD_MIN} to ${PASSWORD_LIMIT} characters.`,
        }),
      },
      { ...strict, description: 'The first person, who becomes an admin.' },
    ),
  },
  { ...strict, $id: 'SetUpRequest', description: 'First-run setup of the organization and its first admin.' },
)
export type SetUpRequest = Static<typeof SetUpRequest>

const password = (description: string) =>
  Type.String({ description, minLength: PASSWORD_MIN, maxLength: PASSWORD_LIMIT })

/** For passwords that are verified: one that is too short for a new password is simply wrong. */
const knownPassword = (description: string) => Type.String({ description, minLength: 1, maxLength: PASSWORD_LIMIT })

export const SignInRequest = Type.Object(
  {
    email: emailAddress({ description: 'E-mail address of the person.', minLength: 1, maxLength: 254 }),
    password: knownPassword('Password of the person.'),
  },
  { ...strict, $id: 'SignInRequest', description: 'Credentials to sign in with.' },
)
export type SignInRequest = Static<typeof SignInRequest>

export const PasswordChange = Type.Object(
  {
    current: knownPassword('Your current password.'),
    new: password('Your new password.'),
  },
  { ...strict, $id: 'PasswordChange', description: 'A change of your password.' },
)
export type PasswordChange = Static<typeof PasswordChange>

export const PasswordChoice = Type.Object(
  {
    link_token: Type.String({
      description: 'The part after `#` in the one-time link.',
      minLength: 1,
      maxLength: 100,
    }),
    password: password('The new password.'),
  },
  { ...strict, $id: 'PasswordChoice', description: 'A new password, set with a one-time link.' },
)
export type PasswordChoice = Static<typeof PasswordChoice>

export const UserBody = Type.Object(
  {
    id: Type.String({ examples: ['usr_01a1fa172a0277f3983322718874f2ef'] }),
    email: emailAddress(),
    name: Type.String(),
    role: oneOf(ROLES, 'Determines what the person can see and do.'),
    has_password: Type.Boolean({
      description: 'Whether the person has a password. Without one they can own tokens but not sign in.',
    }),
    created_at: moment('When the person was added.'),
    last_signed_in_at: orNull(moment('When the person last signed in; null if never.')),
    disabled_at: orNull(moment('When the person was disabled; a disabled person cannot sign in or use their tokens.')),
    erased_at: orNull(moment('When the personal data was erased; the name and the address are pseudonyms since.')),
  },
  { ...strict, $id: 'User', description: 'A person.' },
)
export type UserBody = Static<typeof UserBody>

export const UserList = listOf(UserBody, 'UserList', 'People, most recently added first.')

const email = emailAddress({ description: 'E-mail address to sign in with.', examples: ['grace@example.com'] })

export const NewUser = Type.Object(
  {
    email,
    name: givenName('Name of the person.', ['Grace']),
    role: chosen(ROLES, 'Role, which determines what the person can see and do.'),
  },
  { ...strict, $id: 'NewUser', description: 'A person to invite.' },
)
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

export const PasswordLinkBody = Type.Object(
  {
    user: UserBody,
    link: Type.String({
      description:
        'Opens the page on which the person sets a password; works once. Tally does not send it, so give it to the person yourself.',
      examples: ['https://tally.example.com/password#0Zk3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE'],
    }),
    expires_at: moment('When the link expires.'),
  },
  { ...strict, $id: 'PasswordLink', description: 'A one-time link with which a person sets a password.' },
)
export type PasswordLinkBody = Static<typeof PasswordLinkBody>

export const SessionList = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          signed_in_at: moment('When the session started.'),
          last_seen_at: moment('Time of the last request, to the minute.'),
          expires_at: moment('When the session expires; it ends earlier after a week without requests.'),
          current: Type.Boolean({ description: 'Whether this is the session of the request.' }),
        },
        strict,
      ),
    ),
  },
  { ...strict, $id: 'SessionList', description: 'Sessions of a person, most recently started first.' },
)
export type SessionList = Static<typeof SessionList>

export const SetUpAnswer = Type.Object(
  {
    user: UserBody,
    organization: Type.Object({ name: Type.String(), time_zone: Type.String(), currency: Type.String() }, strict),
  },
  { ...strict, $id: 'SetUpAnswer', description: 'The result of the setup.' },
)
export type SetUpAnswer = Static<typeof SetUpAnswer>

export const TokenBody = Type.Object(
  {
    id: Type.String({ examples: ['tok_01a1fa172a0277f3983322718874f2ef'] }),
    kind: TokenKindText,
    name: Type.String(),
    hint: Type.String({ description: 'The first characters after the prefix.' }),
    state: oneOf(TOKEN_STATES, '`stopped` means that its creator is disabled.'),
    user: Type.Object({ id: Type.String(), email: emailAddress(), name: Type.String() }, strict),
    allow_bills: Type.Boolean(),
    scopes: SCOPES_OF_TOKEN,
    networks: orNull(
      Type.Array(Type.String(), {
        description: 'Addresses and networks from which an API token works; null for any.',
      }),
    ),
    created_at: moment('When the token was created.'),
    expires_at: orNull(moment('When the token expires; null if it does not expire.')),
    last_used_at: orNull(moment('When the token was last used, to the minute; null if never.')),
    revoked_at: orNull(moment('When the token was revoked.')),
  },
  { ...strict, $id: 'Token', description: 'A token, without its secret.' },
)
export type TokenBody = Static<typeof TokenBody>

export const TokenList = listOf(TokenBody, 'TokenList', 'Tokens, newest first.')

/** Two weeks: whoever needs longer creates another token. */
const OVERLAP_HOURS_LIMIT = 336

/** Permissions that a token may have in addition to those of its kind. */
const ALLOWANCES = ['bills'] as const

export const NewToken = Type.Object(
  {
    kind: TokenKindText,
    name: givenName('Purpose of the token, as shown in lists.', ['ci']),
    expires_at: Type.Optional(
      orNull(
        Type.String({
          description:
            'When the token expires: a timestamp with a UTC offset, or a date, which means the first moment of that day in the organization’s time zone. Absent or null means never, and for an API token in 90 days, at most in 366.',
          examples: ['2027-02-18T17:53:04Z'],
        }),
      ),
    ),
    scopes: Type.Optional(
      Type.Array(Type.String(), {
        description: `What an API token may do, as far as your role allows at the time of each call; required for one, and only for one. Any scope of an area includes its \`read\`. ${SCOPE_NAMES.map((scope) => `\`${scope}\`: ${SCOPES[scope].description}.`).join(' ')}`,
        maxItems: SCOPE_NAMES.length,
        examples: [['projects:write']],
      }),
    ),
    networks: Type.Optional(
      Type.Array(Type.String(), {
        description: 'IP addresses and networks from which an API token works; any by default.',
        maxItems: NETWORKS_LIMIT,
        examples: [['10.0.0.0/8']],
      }),
    ),
    allow: Type.Optional(
      Type.Array(chosen(ALLOWANCES, '`bills` allows a service token to send bills.'), { maxItems: 10 }),
    ),
  },
  {
    ...strict,
    ...conditions(
      when(
        isOneOf('kind', 'api'),
        { required: ['scopes'], properties: { scopes: { type: 'array', minItems: 1 } } },
        { properties: { scopes: { maxItems: 0 }, networks: { maxItems: 0 } } },
      ),
      when(isOneOf('kind', 'svc'), undefined, { properties: { allow: { maxItems: 0 } } }),
    ),
    $id: 'NewToken',
    description: 'A token to create.',
  },
)
export type NewToken = Static<typeof NewToken>

export const TokenRotation = Type.Object(
  {
    overlap_hours: Type.Optional(
      Type.Number({
        description: 'How long the old token keeps working, in hours; 24 by default.',
        minimum: 0,
        maximum: OVERLAP_HOURS_LIMIT,
      }),
    ),
  },
  { ...strict, $id: 'TokenRotation' },
)

export const CreatedToken = Type.Object(
  {
    ...TokenBody.properties,
    token: Type.String({ description: 'The token itself. It is shown only once and not stored.' }),
  },
  { ...strict, $id: 'CreatedToken', description: 'A new token with its secret.' },
)
export type CreatedToken = Static<typeof CreatedToken>

export const FurtherEmails = Type.Object(
  {
    emails: Type.Array(emailAddress({ description: 'An e-mail address.', examples: ['ada@users.example.com'] }), {
      [SHOWN]: { maxItems: 20 },
      description: 'Up to 20 addresses, none of which may belong to another person.',
    }),
  },
  {
    ...strict,
    $id: 'FurtherEmails',
    description: 'Additional e-mail addresses that match telemetry to a person. They cannot be used to sign in.',
  },
)
export type FurtherEmails = Static<typeof FurtherEmails>

export const DisabledUser = Type.Object(
  {
    ...UserBody.properties,
    tokens_in_use: Type.Array(TokenBody, {
      description: 'Tokens of the person that were used in the last 30 days and no longer work.',
    }),
  },
  { ...strict, $id: 'DisabledUser', description: 'A person who was disabled.' },
)
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
}: TokenCaller['token']): Omit<NonNullable<Me['token']>, 'kind'> {
  return {
    id: uid,
    name,
    hint,
    allow_bills: allowBills,
    scopes: scopes as Scope[] | null,
    expires_at: timestampOrNull(expiresAt),
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
  { heading: 'id', cell: ({ id }) => id },
  { heading: 'name', cell: ({ name }) => name },
  { heading: 'email', cell: ({ email }) => email },
  { heading: 'role', cell: ({ role }) => role },
  { heading: 'has_password', cell: ({ has_password }) => has_password },
  { heading: 'created_at', cell: ({ created_at }) => created_at },
  { heading: 'last_signed_in_at', cell: ({ last_signed_in_at }) => last_signed_in_at },
  { heading: 'disabled_at', cell: ({ disabled_at }) => disabled_at },
  { heading: 'erased_at', cell: ({ erased_at }) => erased_at },
]

export const TOKEN_COLUMNS: CsvColumn<TokenBody>[] = [
  { heading: 'id', cell: ({ id }) => id },
  { heading: 'kind', cell: ({ kind }) => kind },
  { heading: 'name', cell: ({ name }) => name },
  { heading: 'hint', cell: ({ hint }) => hint },
  { heading: 'state', cell: ({ state }) => state },
  { heading: 'user', cell: ({ user }) => user.email },
  { heading: 'allow_bills', cell: ({ allow_bills }) => allow_bills },
  { heading: 'created_at', cell: ({ created_at }) => created_at },
  { heading: 'expires_at', cell: ({ expires_at }) => expires_at },
  { heading: 'last_used_at', cell: ({ last_used_at }) => last_used_at },
  { heading: 'revoked_at', cell: ({ revoked_at }) => revoked_at },
  { heading: 'scopes', cell: ({ scopes }) => scopes?.join('; ') },
  { heading: 'networks', cell: ({ networks }) => networks?.join('; ') },
  { heading: 'user_id', cell: ({ user }) => user.id },
]
