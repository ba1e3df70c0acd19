import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDuration, parseMoment } from '../../lib/duration.ts'
import { examples } from '../flags/options.ts'
import { note, print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { KIND_NAMES, KINDS, type TokenKind } from './token.ts'

interface CreateFlags extends CommandFlags {
  kind: TokenKind
  user: string
  name: string
  expires?: string
  allow?: 'bills'
}

export function addTokensCreateCommand(tokens: Command): void {
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
        requireExpiry,
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
      const { kind, user, name, expires, allow } = flags
      const { token, secret } = await withServices(flags, async ({ people, organization }, { by }) => {
        const { timeZone } = await organization.settings()
        const expiresAt = expires === undefined ? undefined : parseExpiry(expires, timeZone)
        return people.createToken({ kind, user, name, expiresAt, allowBills: allow === 'bills' }, by)
      })
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
