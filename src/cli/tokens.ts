/** `tally tokens`. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  createToken,
  createTokenOf,
  getToken,
  listTokens,
  revokeToken,
  rotateToken,
} from '../features/people/operations/tokens.ts'
import type { CreatedToken, TokenBody } from '../features/people/schema.ts'
import { parseDuration, parseMoment } from '../lib/duration.ts'
import { rolesOfScope, SCOPE_NAMES, SCOPES } from '../shared/token-scopes.ts'
import { examples } from './flags/options.ts'
import { addAction, addListing } from './operations.ts'
import { minute, note, printJsonList, printTable } from './terminal/print.ts'

const subject = 'id'

const EXAMPLE_ID = 'tok_01a1fa172a0277f3983322718874f2ef'

const KIND_NAMES = { svc: 'a service', read: 'a read', org: 'an organization', api: 'an API' } as const

const HOUR_MS = 3_600_000

/** Two weeks, as over HTTP. */
const OVERLAP_LIMIT_MS = 14 * 24 * HOUR_MS

export function addTokensCommands(program: Command): void {
  const tokens = program
    .command('tokens')
    .description('Create, list and revoke the tokens of agents and programs')
    .addHelpText(
      'after',
      examples('tally tokens create --kind svc --user ada@example.com --name ci --expires 90d', 'tally tokens list'),
    )
  addAction(tokens, createToken, {
    name: 'create',
    description: 'Create a token; it is shown only once',
    flags: {
      kind: {
        flag: '--kind <kind>',
        doc: 'svc to report entries, read to read data, org to push telemetry, api to do what its scopes allow',
      },
      expires_at: {
        flag: '--expires <when>',
        doc: 'expiry: a duration (90d), a date or a timestamp; by default never, and 90 days for an API token',
        read: readExpiry,
      },
      allow: { flag: '--allow <what>', doc: 'bills, to let a service token send bills' },
      scopes: {
        flag: '--scope <scope>',
        doc: 'what an API token may do, such as projects:write; `tally tokens scopes` lists all',
      },
      networks: '--network <address>',
    },
    options: [
      new Option(
        '--user <user>',
        'e-mail address or id of the owner, who becomes the agent manager of the entries it reports',
      ).makeOptionMandatory(),
    ],
    examples: [
      'tally tokens create --kind svc --user ada@example.com --name ci --expires 90d',
      'TALLY_TOKEN=$(tally tokens create --kind svc --user ada@example.com --name laptop)',
      'tally tokens create --kind svc --user ada@example.com --name month-end --allow bills --json',
      'tally tokens create --kind api --user ada@example.com --name terraform --scope projects:write --network 10.0.0.0/8',
    ],
    run: (services, { body, party }, { user }: { user: string }) => createTokenOf(services, user, body, party.by),
    show: createdText,
  })
  addListing(tokens, listTokens, {
    description: 'List active tokens',
    flags: {
      user: '--user <user>',
      state: [
        { flag: '--state <state>', conflicts: 'all' },
        { flag: '--all', doc: 'include revoked, expired and stopped tokens', value: [] },
      ],
    },
    usual: { state: 'usable' },
    examples: ['tally tokens list', 'tally tokens list --user ada@example.com --all --json'],
    columns: [
      { title: 'NAME', of: ({ name }) => name },
      { title: 'TOKEN', rank: 1, of: hintText },
      { title: 'PERSON', of: ({ user }) => user.email },
      { title: 'STATE', of: ({ state }) => state },
      {
        title: 'ALLOWED',
        rank: 2,
        of: ({ allow_bills, scopes }) => (allow_bills ? 'bills' : (scopes?.join(' ') ?? '')),
      },
      { title: 'LAST USED (UTC)', rank: 1, of: ({ last_used_at }) => minute(last_used_at) },
      { title: 'EXPIRES (UTC)', rank: 2, of: ({ expires_at }) => minute(expires_at) },
      { title: 'ID', of: ({ id }) => id },
    ],
    howToAdd: 'Create one with `tally tokens create`.',
  })
  addAction(tokens, getToken, {
    name: 'show',
    description: 'Show one token: its kind, owner and last use',
    subject,
    examples: [`tally tokens show ${EXAMPLE_ID}`],
    show: shownText,
  })
  addAction(tokens, revokeToken, {
    name: 'revoke',
    description: 'Revoke a token permanently; a running server refuses it from the next request',
    subject,
    examples: [`tally tokens revoke ${EXAMPLE_ID} --yes`],
    first: getToken,
    confirm: (_, token) => `Permanently revoke the token '${token.name}' (${hintText(token)}) of ${token.user.name}?`,
    show: (token) => `The token '${token.name}' (${hintText(token)}) of ${token.user.name} is revoked.`,
  })
  addAction(tokens, rotateToken, {
    name: 'rotate',
    description: 'Replace an API token by one with the same scopes, networks and lifetime; it is shown only once',
    subject,
    flags: {
      overlap_hours: {
        flag: '--overlap <duration>',
        doc: 'how long the old token keeps working, at most 2w; by default 24h',
        read: readOverlap,
      },
    },
    examples: [`TALLY_TOKEN=$(tally tokens rotate ${EXAMPLE_ID} --overlap 2h)`],
    show: createdText,
  })
  addScopesCommand(tokens)
}

/** `tally_svc_3f9a…`: its beginning, which does not reveal it. */
export function hintText({ kind, hint }: Pick<TokenBody, 'kind' | 'hint'>): string {
  return `tally_${kind}_${hint}…`
}

/** The token alone, so that a shell's variable can take it; everything else goes to standard error. */
function createdText({ token, kind, name, user, expires_at, id }: CreatedToken): string {
  const lifetime = expires_at === null ? 'does not expire' : `expires on ${expires_at}`
  note(
    `Created ${KIND_NAMES[kind]} token '${name}' of ${user.name}, which ${lifetime}. Store it now: it is not shown again. Id: ${id}`,
  )
  return token
}

function shownText(token: TokenBody): string {
  const { name, kind, user, state, allow_bills, scopes, networks, created_at, last_used_at, expires_at, revoked_at } =
    token
  const at = (moment: string | null) => (moment === null ? 'never' : `${minute(moment)} UTC`)
  return [
    `'${name}' (${hintText(token)}), ${KIND_NAMES[kind]} token of ${user.name} (${user.email})`,
    `state      ${state}${allow_bills ? ', may send bills' : ''}`,
    ...(scopes ? [`scopes     ${scopes.join(', ')}`] : []),
    ...(networks ? [`networks   ${networks.join(', ')}`] : []),
    `created    ${at(created_at)}`,
    `last used  ${at(last_used_at)}`,
    `expires    ${at(expires_at)}`,
    ...(revoked_at === null ? [] : [`revoked    ${at(revoked_at)}`]),
  ].join('\n')
}

/** A moment, or the date on which it begins in the organization's time zone. */
function readExpiry(text: string): string {
  const duration = parseDuration(text)
  if (duration !== undefined) return new Date(Date.now() + duration).toISOString()
  if (parseMoment(text, 'UTC') !== undefined) return text
  throw new InvalidArgumentError(
    'Use a duration (90d, 12h, 30min, 2w), a date (2027-01-01, when that day begins) or a timestamp with an offset (2027-01-01T08:00:00+01:00).',
  )
}

/** In hours. */
function readOverlap(text: string): number {
  const overlapMs = text === '0' ? 0 : parseDuration(text)
  if (overlapMs === undefined || overlapMs > OVERLAP_LIMIT_MS) {
    throw new InvalidArgumentError('Use a duration of at most two weeks in min, h, d or w, such as 30min or 24h, or 0.')
  }
  return overlapMs / HOUR_MS
}

function addScopesCommand(tokens: Command): void {
  tokens
    .command('scopes')
    .description('List the scopes of API tokens; any scope of an area includes its read')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally tokens scopes'))
    .action(({ json }: { json?: boolean }) => {
      const scopes = SCOPE_NAMES.map((scope) => ({
        scope,
        description: SCOPES[scope].description,
        roles: rolesOfScope(scope) ?? null,
      }))
      if (json) return printJsonList(scopes)
      printTable(
        [
          { title: 'SCOPE', of: ({ scope }) => scope },
          { title: 'ROLES', of: ({ roles }) => roles?.join(', ') ?? 'all' },
          { title: 'DESCRIPTION', flows: true, of: ({ description }) => description },
        ],
        scopes,
      )
    })
}
