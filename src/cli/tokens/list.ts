import { type Command, Option } from 'commander'
import type { TokenBody } from '../../features/people/schema.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { minute, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { hintText, KINDS, type TokenKind } from './token.ts'

type TokenState = TokenBody['state']
const STATES: TokenState[] = ['usable', 'revoked', 'expired', 'stopped']

interface ListFlags extends CommandFlags, ColumnFlags {
  user?: string
  kind?: TokenKind
  state?: TokenState
  all?: boolean
}

export function addTokensListCommand(tokens: Command): void {
  tokens
    .command('list')
    .description('List active tokens')
    .option('--user <user>', 'only tokens of this person (e-mail address or id)')
    .addOption(new Option('--kind <kind>', 'only tokens of this kind').choices(KINDS))
    .addOption(new Option('--state <state>', 'only tokens in this state').choices(STATES).conflicts('all'))
    .option('--all', 'include revoked, expired and stopped tokens')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally tokens list', 'tally tokens list --user ada@example.com --all --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>()
      const { EVERYBODYS_TOKENS } = await import('../../features/people/service.ts')
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
        bodies,
        flags,
      )
    })
}
