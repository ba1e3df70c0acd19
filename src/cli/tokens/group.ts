import { type Command, InvalidArgumentError, Option } from 'commander'
import type { TokenBody } from '../../features/people/schema.ts'
import { parseDuration, parseMoment } from '../../lib/duration.ts'
import { examples } from '../flags/options.ts'
import { minute, note, print, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'

type TokenKind = TokenBody['kind']
const KINDS: TokenKind[] = ['svc', 'read', 'org']
type TokenState = TokenBody['state']
const STATES: TokenState[] = ['usable', 'revoked', 'expired', 'stopped']
const KIND_NAMES: Record<TokenKind, string> = { svc: 'service', read: 'read', org: 'organization' }

interface Flags extends DatabaseFlags {
  json?: boolean
}

interface CreateFlags extends Flags {
  kind: TokenKind
  user: string
  name: string
  expires?: number
  allow?: 'bills'
}

interface ListFlags extends Flags {
  user?: string
  kind?: TokenKind
  state?: TokenState
  all?: boolean
}

const ID = 'id of the token (tok_…), see `tally tokens list`'

const services = () => import('../../features/people/service.ts')

/** When a token expires, in milliseconds since 1970. */
function parseExpiry(text: string): number {
  const duration = parseDuration(text)
  const moment = duration === undefined ? parseMoment(text) : Date.now() + duration
  if (moment === undefined) {
    throw new InvalidArgumentError(
      'Use a duration (90d, 12h, 30min, 2w), a date (2027-01-01, midnight UTC) or a timestamp with an offset (2027-01-01T08:00:00+01:00).',
    )
  }
  return moment
}

export function addTokensCommands(program: Command): void {
  const tokens = program
    .command('tokens')
    .description('Create, list and revoke the tokens of agents and programs')
    .addHelpText(
      'after',
      examples('tally tokens create --kind svc --user ada@example.com --name ci --expires 90d', 'tally tokens list'),
    )

  tokens
    .command('create')
    .description('Create a token; it is shown only once')
    .addOption(
      new Option('--kind <kind>', 'svc to report entries, read to read data, org to push telemetry')
        .choices(KINDS)
        .makeOptionMandatory(),
    )
    .requiredOption(
      '--user <user>',
      'e-mail address or id of the owner, who becomes the agent manager of the entries it reports',
    )
    .requiredOption('--name <name>', 'name to recognize it by')
    .addOption(
      new Option('--expires <when>', 'expiry: a duration (90d), a date or a timestamp; never by default').argParser(
        parseExpiry,
      ),
    )
    .addOption(new Option('--allow <what>', 'also allow a service token to send bills').choices(['bills']))
    .option('--json', 'print the token and its details as JSON')
    .addHelpText(
      'after',
      examples(
        'tally tokens create --kind svc --user ada@example.com --name ci --expires 90d',
        'TALLY_TOKEN=$(tally tokens create --kind svc --user ada@example.com --name laptop)',
        'tally tokens create --kind svc --user ada@example.com --name month-end --allow bills --json',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CreateFlags>()
      const { kind, user, name, expires: expiresAt, allow } = flags
      const { token, secret } = await withServices(flags, ({ people }, { by }) =>
        people.createToken({ kind, user, name, expiresAt, allowBills: allow === 'bills' }, by),
      )
      const { createdTokenBody } = await import('../../features/people/schema.ts')
      const body = createdTokenBody({ token, secret })
      if (flags.json) return printJson(body)
      // The token alone goes to standard output, so that a shell's variable can take it.
      print(secret)
      const lifetime = body.expires_at === null ? 'does not expire' : `expires on ${body.expires_at}`
      note(
        `Created the ${KIND_NAMES[kind]} token '${body.name}' of ${body.user.name}, which ${lifetime}. Store it now: it is not shown again. Id: ${body.id}`,
      )
    })

  tokens
    .command('list')
    .description('List active tokens')
    .option('--user <user>', 'only tokens of this person (e-mail address or id)')
    .addOption(new Option('--kind <kind>', 'only tokens of this kind').choices(KINDS))
    .addOption(new Option('--state <state>', 'only tokens in this state').choices(STATES).conflicts('all'))
    .option('--all', 'include revoked, expired and stopped tokens')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally tokens list', 'tally tokens list --user ada@example.com --all --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>()
      const { EVERYBODYS_TOKENS } = await services()
      const listed = await withServices(flags, async ({ people }) => {
        const { user, kind, all, state = 'usable' } = flags
        return people.everyToken(EVERYBODYS_TOKENS, {
          users: user === undefined ? undefined : [(await people.getUser(user)).uid],
          kinds: kind && [kind],
          states: all ? undefined : [state],
        })
      })
      const { listedTokenBody } = await import('../../features/people/schema.ts')
      const bodies = listed.map(listedTokenBody)
      if (flags.json) return printJsonList(bodies)
      printTable(
        [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'TOKEN', of: ({ kind, hint }) => `tally_${kind}_${hint}…` },
          { title: 'PERSON', of: ({ user }) => user.email },
          { title: 'STATE', of: ({ state }) => state },
          { title: 'ALLOWED', of: ({ allow_bills }) => (allow_bills ? 'bills' : '') },
          { title: 'LAST USED (UTC)', of: ({ last_used_at }) => minute(last_used_at) },
          { title: 'EXPIRES (UTC)', of: ({ expires_at }) => minute(expires_at) },
          { title: 'ID', of: ({ id }) => id },
        ],
        bodies,
      )
    })

  tokens
    .command('show')
    .description('Show one token: its kind, owner and last use')
    .argument('<id>', ID)
    .option('--json', 'print the token as JSON')
    .addHelpText('after', examples('tally tokens show tok_01a1fa172a0277f3983322718874f2ef'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { EVERYBODYS_TOKENS } = await services()
      const listed = await withServices(flags, ({ people }) => people.getToken(EVERYBODYS_TOKENS, id))
      const { listedTokenBody } = await import('../../features/people/schema.ts')
      const body = listedTokenBody(listed)
      if (flags.json) return printJson(body)
      print(
        `'${body.name}' (tally_${body.kind}_${body.hint}…), a ${KIND_NAMES[body.kind]} token of ${body.user.name} (${body.user.email})`,
      )
      print(`state      ${body.state}${body.allow_bills ? ', may send bills' : ''}`)
      print(`created    ${minute(body.created_at)} UTC`)
      print(`last used  ${body.last_used_at === null ? 'never' : `${minute(body.last_used_at)} UTC`}`)
      print(`expires    ${body.expires_at === null ? 'never' : `${minute(body.expires_at)} UTC`}`)
      if (body.revoked_at !== null) print(`revoked    ${minute(body.revoked_at)} UTC`)
    })

  tokens
    .command('revoke')
    .description('Revoke a token permanently; a running server refuses it from the next request')
    .argument('<id>', ID)
    .option('--json', 'print the token as JSON')
    .addHelpText('after', examples('tally tokens revoke tok_01a1fa172a0277f3983322718874f2ef'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { EVERYBODYS_TOKENS } = await services()
      const token = await withServices(flags, ({ people }, { by }) => people.revokeToken(EVERYBODYS_TOKENS, id, by))
      const { tokenBody } = await import('../../features/people/schema.ts')
      const body = tokenBody(token, 'revoked')
      if (flags.json) return printJson(body)
      print(`The token '${body.name}' (tally_${body.kind}_${body.hint}…) of ${body.user.name} is revoked.`)
    })
}
