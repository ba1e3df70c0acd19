import type { Command } from 'commander'
import { userBody } from '../../features/people/schema.ts'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { readPassword } from '../terminal/password.ts'
import { print } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { USER } from './user.ts'

export function addUsersSetPasswordCommand(users: Command): void {
  users
    .command('set-password')
    .description('Set a new password, entered at a prompt or read from standard input, and sign the person out')
    .argument('<user>', USER)
    .option('--password-stdin', 'read the password from standard input')
    .option('--json', 'print the person as JSON')
    .addHelpText(
      'after',
      examples(
        'tally users set-password ada@example.com',
        'tally users set-password ada@example.com --password-stdin < password.txt',
      ),
    )
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { passwordStdin?: boolean }>()
      const password = await readPassword({ fromStdin: flags.passwordStdin ?? false })
      await act(
        command,
        ({ people }, { by }) => people.setPassword(who, password, by),
        userBody,
        (body) => print(`${body.name} (${body.email}) has a new password.`),
      )
    })
}
