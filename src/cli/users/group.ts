import { Argument, type Command, Option } from 'commander'
import { readConfig } from '../../config.ts'
import type { UserBody, userBody } from '../../features/people/schema.ts'
import { linkBase } from '../address.ts'
import { CommandError } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { readPassword } from '../terminal/password.ts'
import { minute, note, print, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'

type Role = UserBody['role']
const ROLES: Role[] = ['member', 'billing', 'admin']
const STATES = ['active', 'disabled'] as const

interface Flags extends DatabaseFlags {
  json?: boolean
}

/** The schemas are loaded with the services and not before: `--help` does without them. */
async function bodyOf(user: Parameters<typeof userBody>[0]): Promise<UserBody> {
  return (await import('../../features/people/schema.ts')).userBody(user)
}

/** Prints a one-time link to choose a password, and when it expires. */
async function printLink(who: string, purpose: 'invitation' | 'password', command: Command): Promise<void> {
  const flags = command.optsWithGlobals<Flags & { publicUrl?: string; host?: string; port?: string }>()
  const base = linkBase(readConfig(flags))
  const made = await withServices(flags, ({ people }, { by }) => people.createPasswordLink(who, purpose, base, by))
  const { passwordLinkBody } = await import('../../features/people/schema.ts')
  const { user, link, expires_at } = passwordLinkBody(made)
  if (flags.json) return printJson({ user, link, expires_at })
  // The link alone goes to standard output, so that a script can send it.
  print(link)
  note(
    `${user.name} (${user.email}) can use this link once to choose a password, until ${expires_at}. Earlier links no longer work.`,
  )
}

const USER = 'e-mail address or id (usr_…) of the person'

export function addUsersCommands(program: Command): void {
  const users = program
    .command('users')
    .description('Add people, change their roles, disable and enable accounts')
    .addHelpText(
      'after',
      examples('tally users add --email ada@example.com --name Ada --role admin', 'tally users list'),
    )

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
        Flags & { email: string; name: string; role: Role; passwordStdin?: boolean }
      >()
      const { email, name, role, json } = flags
      const password = flags.passwordStdin ? await readPassword({ fromStdin: true }) : undefined
      const user = await withServices(
        flags,
        ({ people }, { by }) => people.addUser({ email, name, role, password }, by),
        {
          creates: true,
        },
      )
      const body = await bodyOf(user)
      if (json) return printJson(body)
      print(`Added ${body.name} (${body.email}) with the role ${body.role}: ${body.id}`)
      if (!body.has_password)
        note(`They need a password to sign in. To print a link to choose one: tally users invite ${body.email}`)
    })

  users
    .command('list')
    .description('List all people by name')
    .option('--search <text>', 'only people whose name or e-mail address contains the text')
    .addOption(new Option('--role <role>', 'only people with this role').choices(ROLES))
    .addOption(new Option('--state <state>', 'only people in this state').choices(STATES))
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
      const flags = command.optsWithGlobals<Flags & { search?: string; role?: Role; state?: (typeof STATES)[number] }>()
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
          { title: 'ROLE', of: ({ role }) => role },
          {
            title: 'STATE',
            of: ({ disabled_at }) => (disabled_at === null ? 'active' : `disabled ${minute(disabled_at)}`),
          },
          { title: 'ADDED (UTC)', of: ({ created_at }) => minute(created_at) },
          { title: 'ID', of: ({ id }) => id },
        ],
        bodies,
      )
    })

  users
    .command('show')
    .description('Show one person')
    .argument('<user>', USER)
    .option('--json', 'print the person as JSON')
    .addHelpText('after', examples('tally users show grace@example.com'))
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { user, slowdown } = await withServices(flags, async ({ people }) => {
        const user = await people.getUser(who)
        return { user, slowdown: await people.findSlowdown(user) }
      })
      const body = await bodyOf(user)
      if (flags.json) return printJson(body)
      const at = (moment: string | null) => (moment === null ? 'never' : `${minute(moment)} UTC`)
      print(`${body.name} (${body.email}): ${body.id}`)
      print(`role       ${body.role}`)
      print(`state      ${body.disabled_at === null ? 'active' : `disabled since ${at(body.disabled_at)}`}`)
      print(`password   ${body.has_password ? 'set' : `not set; run tally users invite ${body.email}`}`)
      print(`added      ${at(body.created_at)}`)
      print(`signed in  ${at(body.last_signed_in_at)}`)
      if (slowdown) {
        const since = at(new Date(slowdown.since).toISOString())
        print(`locked     sign-in delayed after wrong passwords since ${since}; run tally users unlock ${body.email}`)
      }
    })

  users
    .command('unlock')
    .description('Remove the sign-in delay caused by wrong passwords, on every server that uses the database')
    .argument('<user>', USER)
    .option('--json', 'print the person as JSON')
    .addHelpText('after', examples('tally users unlock ada@example.com'))
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const body = await bodyOf(await withServices(flags, ({ people }, { by }) => people.unlockUser(who, by)))
      if (flags.json) return printJson(body)
      print(`${body.name} (${body.email}) can sign in again without delay.`)
      note(
        'Network addresses that tried several accounts are still delayed; this resets only the attempts for this person.',
      )
    })

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
      const flags = command.optsWithGlobals<Flags & { name?: string; email?: string; role?: Role }>()
      const { name, email, role } = flags
      if (name === undefined && email === undefined && role === undefined) {
        throw new CommandError('Nothing to change. Use --name, --email or --role.', 2)
      }
      const user = await withServices(flags, ({ people }, { by }) => people.changeUser(who, { name, email, role }, by))
      const body = await bodyOf(user)
      if (flags.json) return printJson(body)
      print(`${body.name} (${body.email}) has the role ${body.role}.`)
    })

  users
    .command('set-role')
    .description('Change the role of a person; it applies to their read tokens at once')
    .argument('<user>', USER)
    .addArgument(new Argument('<role>', 'new role').choices(ROLES))
    .option('--json', 'print the person as JSON')
    .addHelpText('after', examples('tally users set-role grace@example.com billing'))
    .action(async (who: string, role: Role, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const body = await bodyOf(await withServices(flags, ({ people }, { by }) => people.setRole(who, role, by)))
      if (flags.json) return printJson(body)
      print(`${body.name} (${body.email}) has the role ${body.role}.`)
    })

  users
    .command('emails')
    .description(
      'Show, add and remove additional addresses that identify a person in telemetry; they cannot be used to sign in',
    )
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
      const flags = command.optsWithGlobals<Flags & { add?: string[]; remove?: string[] }>()
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

  users
    .command('disable')
    .description(
      'Disable an account: sign the person out and stop their service and read tokens; organization tokens keep working',
    )
    .argument('<user>', USER)
    .option('--json', 'print the person, and the tokens in use, as JSON')
    .addHelpText('after', examples('tally users disable grace@example.com'))
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
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
          { title: 'TOKEN', of: ({ kind, hint }) => `tally_${kind}_${hint}…` },
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
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const body = await bodyOf(await withServices(flags, ({ people }, { by }) => people.enableUser(who, by)))
      if (flags.json) return printJson(body)
      print(`${body.name} (${body.email}) is enabled, and so are their tokens.`)
    })

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
      const flags = command.optsWithGlobals<Flags & { passwordStdin?: boolean }>()
      const password = await readPassword({ fromStdin: flags.passwordStdin ?? false })
      const body = await bodyOf(
        await withServices(flags, ({ people }, { by }) => people.setPassword(who, password, by)),
      )
      if (flags.json) return printJson(body)
      print(`${body.name} (${body.email}) has a new password.`)
    })

  users
    .command('invite')
    .description('Print a one-time link to choose a first password; it expires in a week')
    .argument('<user>', USER)
    .addOption(optionOf('publicUrl'))
    .addOption(optionOf('host'))
    .addOption(optionOf('port'))
    .option('--json', 'print the link, its expiry and the person as JSON')
    .addHelpText(
      'after',
      examples(
        'tally users invite grace@example.com',
        'tally users invite grace@example.com --public-url https://tally.example.com --json',
      ),
    )
    .action((who: string, _flags, command: Command) => printLink(who, 'invitation', command))

  users
    .command('reset-password')
    .description('Print a one-time link to choose a new password; it expires in a day')
    .argument('<user>', USER)
    .addOption(optionOf('publicUrl'))
    .addOption(optionOf('host'))
    .addOption(optionOf('port'))
    .option('--json', 'print the link, its expiry and the person as JSON')
    .addHelpText('after', examples('tally users reset-password grace@example.com'))
    .action((who: string, _flags, command: Command) => printLink(who, 'password', command))
}
