import type { Command } from 'commander'
import { userBody } from '../../features/people/schema.ts'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { note, print } from '../terminal/print.ts'
import { USER } from './user.ts'

export function addUsersUnlockCommand(users: Command): void {
  users
    .command('unlock')
    .description('Remove the sign-in delay caused by wrong passwords, on every server that uses the database')
    .argument('<user>', USER)
    .option('--json', 'print the person as JSON')
    .addHelpText('after', examples('tally users unlock ada@example.com'))
    .action((who: string, _flags, command: Command) =>
      act(
        command,
        ({ people }, { by }) => people.unlockUser(who, by),
        userBody,
        (body) => {
          print(`${body.name} (${body.email}) can sign in again without delay.`)
          note(
            'Network addresses that tried several accounts are still delayed; this resets only the attempts for this person.',
          )
        },
      ),
    )
}
