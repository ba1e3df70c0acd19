import { Argument, type Command, Option } from 'commander'
import type { UserBody } from '../../features/people/schema.ts'
import { act } from '../act.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { bodyOf, ROLES, type Role, USER } from './user.ts'

/** `tally users change` and `set-role`. */
export function addUsersChangeCommands(users: Command): void {
  users
    .command('change')
    .description('Change a person’s name, e-mail address or role')
    .argument('<user>', USER)
    .option('--name <name>', 'new name')
    .option('--email <address>', 'new address to sign in with')
    .addOption(new Option('--role <role>', 'new role').choices(ROLES))
    .option('--json', 'print the person as JSON')
    .addHelpText('after', examples("tally users change grace@example.com --name 'Grace Hopper'"))
    .action(async (who: string, _flags, command: Command) => {
      const { name, email, role } = command.optsWithGlobals<{ name?: string; email?: string; role?: Role }>()
      if (name === undefined && email === undefined && role === undefined) {
        throw new CommandError('Nothing to change. Use --name, --email or --role.', 2)
      }
      await act(command, ({ people }, { by }) => people.changeUser(who, { name, email, role }, by), bodyOf, printRole)
    })

  users
    .command('set-role')
    .description('Change the role of a person; it applies to their tokens at once')
    .argument('<user>', USER)
    .addArgument(new Argument('<role>', 'new role').choices(ROLES))
    .option('--json', 'print the person as JSON')
    .addHelpText('after', examples('tally users set-role grace@example.com billing'))
    .action((who: string, role: Role, _flags, command: Command) =>
      act(command, ({ people }, { by }) => people.setRole(who, role, by), bodyOf, printRole),
    )
}

function printRole({ name, email, role }: UserBody): void {
  print(`${name} (${email}) has the role ${role}.`)
}
