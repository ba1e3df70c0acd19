import { type Command, Option } from 'commander'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { minute, printJsonList, printTable } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { withServices } from '../with-services.ts'
import { bodyOf, ROLES, type Role, STATES, stateOf } from './user.ts'

export function addUsersListCommand(users: Command): void {
  users
    .command('list')
    .description('List all people by name')
    .option('--search <text>', 'only people whose name or e-mail address contains the text')
    .addOption(new Option('--role <role>', 'only people with this role').choices(ROLES))
    .addOption(new Option('--state <state>', 'only people in this state').choices(STATES))
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally users list',
        'tally users list --role admin --state active',
        "tally users list --json | jq '.data[].email'",
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<
        CommandFlags & ColumnFlags & { search?: string; role?: Role; state?: (typeof STATES)[number] }
      >()
      const { search, role, state } = flags
      const users = await withServices(flags, ({ people }) =>
        people.everyUser({ search, roles: role && [role], state }),
      )
      const bodies = await Promise.all(users.map(bodyOf))
      if (flags.json) return printJsonList(bodies)
      printTable(
        [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'E-MAIL', of: ({ email }) => email },
          { title: 'ROLE', rank: 1, of: ({ role }) => role },
          { title: 'STATE', of: stateOf },
          { title: 'ADDED (UTC)', rank: 2, of: ({ created_at }) => minute(created_at) },
          { title: 'ID', of: ({ id }) => id },
        ],
        bodies,
        flags,
      )
    })
}
