import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { print, printJson } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { withServices } from '../with-services.ts'
import { USER } from './user.ts'

export function addUsersEmailsCommand(users: Command): void {
  users
    .command('emails')
    .description(
      'Show, add and remove additional addresses that identify a person in telemetry; they cannot be used to sign in',
    )
    .summary('Show, add and remove further addresses that identify a person in telemetry')
    .argument('<user>', USER)
    .option('--add <address...>', 'addresses to add')
    .option('--remove <address...>', 'addresses to remove')
    .option('--json', 'print the addresses as JSON')
    .addHelpText(
      'after',
      examples(
        'tally users emails ada@example.com --add ada@users.example.com',
        'tally users emails ada@example.com --json',
      ),
    )
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { add?: string[]; remove?: string[] }>()
      const { add = [], remove = [], json } = flags
      const { user, emails } = await withServices(flags, ({ people }, { by }) =>
        add.length + remove.length === 0
          ? people.getFurtherEmails(who)
          : people.changeFurtherEmails(who, { add, remove }, by),
      )
      if (json) return printJson({ emails })
      if (emails.length === 0) print(`${user.name} (${user.email}) has no additional addresses.`)
      for (const email of emails) print(email)
    })
}
