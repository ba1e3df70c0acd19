import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { minute, print, printJson, printTable } from '../terminal/print.ts'
import { hintText } from '../tokens.ts'
import type { CommandFlags } from '../with-services.ts'
import { withServices } from '../with-services.ts'
import { bodyOf, USER } from './user.ts'

/** `tally users disable` and `enable`. */
export function addUsersDisableCommands(users: Command): void {
  users
    .command('disable')
    .description(
      'Disable an account: sign the person out and stop their service, read and API tokens; organization tokens keep working',
    )
    .summary('Disable an account and its tokens, except those of the organization')
    .argument('<user>', USER)
    .option('--json', 'print the person, and the tokens in use, as JSON')
    .addHelpText('after', examples('tally users disable grace@example.com'))
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { user, tokensInUse } = await withServices(flags, ({ people }, { by }) => people.disableUser(who, by))
      const { disabledUserBody } = await import('../../features/people/schema.ts')
      const body = disabledUserBody({ user, tokensInUse })
      const tokens = body.tokens_in_use
      if (flags.json) return printJson(body)
      print(`${body.name} (${body.email}) is disabled.`)
      if (tokens.length === 0) return
      print('These tokens were used in the last 30 days and no longer work:')
      printTable(
        [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'TOKEN', of: hintText },
          { title: 'LAST USED (UTC)', of: ({ last_used_at }) => minute(last_used_at) },
          { title: 'ID', of: ({ id }) => id },
        ],
        tokens,
      )
    })

  users
    .command('enable')
    .description('Enable a disabled account and its tokens')
    .argument('<user>', USER)
    .option('--json', 'print the person as JSON')
    .addHelpText('after', examples('tally users enable grace@example.com'))
    .action((who: string, _flags, command: Command) =>
      act(
        command,
        ({ people }, { by }) => people.enableUser(who, by),
        bodyOf,
        (body) => {
          print(`${body.name} (${body.email}) is enabled, and so are their tokens.`)
        },
      ),
    )
}
