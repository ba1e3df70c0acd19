import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDuration, parseMoment } from '../../lib/duration.ts'
import { collect, examples } from '../flags/options.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { KINDS, printCreated, type TokenKind } from './token.ts'

interface CreateFlags extends CommandFlags {
  kind: TokenKind
  user: string
  name: string
  expires?: string
  allow?: 'bills'
  scope?: string[]
  network?: string[]
}

export function addTokensCreateCommand(tokens: Command): void {
  tokens
    .command('create')
    .description('Create a token; it is shown only once')
    .addOption(
      new Option(
        '--kind <kind>',
        'svc to report entries, read to read data, org to push telemetry, api to do what its scopes allow',
      )
        .choices(KINDS)
        .makeOptionMandatory(),
    )
    .requiredOption(
      '--user <user>',
      'e-mail address or id of the owner, who becomes the agent manager of the entries it reports',
    )
    .requiredOption('--name <name>', 'name to recognize it by')
    .addOption(
      new Option(
        '--expires <when>',
        'expiry: a duration (90d), a date or a timestamp; by default never, and 90 days for an API token',
      ).argParser(requireExpiry),
    )
    .addOption(new Option('--allow <what>', 'also allow a service token to send bills').choices(['bills']))
    .option(
      '--scope <scope>',
      'what an API token may do, such as projects:write; `tally tokens scopes` lists all; repeatable or comma-separated',
      collect,
    )
    .option(
      '--network <address>',
      'address or network (10.0.0.0/8) from which an API token works, any by default; repeatable or comma-separated',
      collect,
    )
    .option('--json', 'print the token and its details as JSON')
    .addHelpText(
      'after',
      examples(
        'tally tokens create --kind svc --user ada@example.com --name ci --expires 90d',
        'TALLY_TOKEN=$(tally tokens create --kind svc --user ada@example.com --name laptop)',
        'tally tokens create --kind svc --user ada@example.com --name month-end --allow bills --json',
        'tally tokens create --kind api --user ada@example.com --name terraform --scope projects:write --network 10.0.0.0/8',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CreateFlags>()
      const { kind, user, name, expires, allow, scope: scopes, network: networks } = flags
      const { token, secret } = await withServices(flags, async ({ people, organization }, { by }) => {
        const { timeZone } = await organization.settings()
        const expiresAt = expires === undefined ? undefined : parseExpiry(expires, timeZone)
        return people.createToken({ kind, user, name, expiresAt, allowBills: allow === 'bills', scopes, networks }, by)
      })
      await printCreated({ token, secret }, flags)
    })
}

/** When a token expires, in milliseconds since 1970: days begin in the time zone. */
function parseExpiry(text: string, timeZone: string): number | undefined {
  const duration = parseDuration(text)
  return duration === undefined ? parseMoment(text, timeZone) : Date.now() + duration
}

/** Validated before the database is opened, in any time zone. */
function requireExpiry(text: string): string {
  if (parseExpiry(text, 'UTC') !== undefined) return text
  throw new InvalidArgumentError(
    'Use a duration (90d, 12h, 30min, 2w), a date (2027-01-01, when that day begins) or a timestamp with an offset (2027-01-01T08:00:00+01:00).',
  )
}
