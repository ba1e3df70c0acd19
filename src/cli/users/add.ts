import { type Command, Option } from 'commander'
import { type UserBody, userBody } from '../../features/people/schema.ts'
import { ROLES } from '../../schema/fields.ts'
import { examples } from '../flags/options.ts'
import { readPassword } from '../terminal/password.ts'
import { note, print, printJson } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { withServices } from '../with-services.ts'

export function addUsersAddCommand(users: Command): void {
  users
    .command('add')
    .description('Add a person')
    .requiredOption('--email <address>', 'e-mail address to sign in with')
    .requiredOption('--name <name>', 'display name')
    .addOption(
      new Option('--role <role>', 'role, which decides what they can see and do').choices(ROLES).makeOptionMandatory(),
    )
    .option('--password-stdin', 'read the password from standard input; without a password they cannot sign in')
    .option('--json', 'print the person as JSON')
    .addHelpText(
      'after',
      examples(
        'tally users add --email ada@example.com --name Ada --role admin',
        "printf %s 'correct horse battery' | tally users add --email ada@example.com --name Ada --role admin --password-stdin --json",
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<
        CommandFlags & { email: string; name: string; role: UserBody['role']; passwordStdin?: boolean }
      >()
      const { email, name, role, json } = flags
      const password = flags.passwordStdin ? await readPassword({ fromStdin: true }) : undefined
      const user = await withServices(
        flags,
        async ({ people, prices }, { by }) => {
          // Often the first command of a new database, which commands that read prices do not change.
          await prices.loadDefaultPrices()
          return people.addUser({ email, name, role, password }, by)
        },
        { creates: true },
      )
      const body = userBody(user)
      if (json) return printJson(body)
      print(`Added ${body.name} (${body.email}) with the role ${body.role}: ${body.id}`)
      if (body.role === 'viewer')
        note(
          `Viewers see what is granted to them, and nothing yet. To grant something: tally users grant ${body.email}`,
        )
      if (!body.has_password)
        note(`They need a password to sign in. To print a link to choose one: tally users invite ${body.email}`)
    })
}
