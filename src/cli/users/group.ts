import { createWriteStream, existsSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, Option } from 'commander'
import { listAgentStatus } from '../../features/agent-status/operations/agent-status.ts'
import { changeUser, disableUser, enableUser, listUsers } from '../../features/people/operations/users.ts'
import { type DisabledUser, type UserBody, userBody } from '../../features/people/schema.ts'
import type { PersonalDataFormat } from '../../features/personal-data/service.ts'
import { ROLES } from '../../schema/fields.ts'
import { agentText, notReadText } from '../../shared/not-read.ts'
import { act } from '../act.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import { readPassword } from '../terminal/password.ts'
import { minute, note, print, printJson, printPieces, printTable } from '../terminal/print.ts'
import { hintText } from '../tokens.ts'
import { type CommandFlags, type DatabaseFlags, withServices } from '../with-services.ts'
import { addUsersEraseCommand } from './erase.ts'
import { addUsersGrantCommands } from './grants.ts'
import { addUsersLinkCommands } from './links.ts'
import { stateOf, USER } from './user.ts'

const subject = 'user'

export function addUsersCommands(program: Command): void {
  const users = program
    .command('users')
    .alias('people')
    .description('Add, change, disable and erase people, and choose what viewers see')
    .addHelpText(
      'after',
      examples('tally users add --email ada@example.com --name Ada --role admin', 'tally users list'),
    )
  addUsersAddCommand(users)
  addListing(users, listUsers, {
    description: 'List all people by name',
    plural: 'people',
    examples: [
      'tally users list',
      'tally users list --role admin --state active',
      "tally users list --json | jq '.data[].email'",
    ],
    columns: [
      { title: 'NAME', of: ({ name }) => name },
      { title: 'E-MAIL', of: ({ email }) => email },
      { title: 'ROLE', rank: 1, of: ({ role }) => role },
      { title: 'STATE', of: stateOf },
      { title: 'ADDED (UTC)', rank: 2, of: ({ created_at }) => minute(created_at) },
      { title: 'ID', of: ({ id }) => id },
    ],
    howToAdd: 'Add one with `tally users add`.',
  })
  addUsersShowCommand(users)
  addListing(users, listAgentStatus, {
    name: 'agents',
    description: 'List the agents that report from people’s machines, and what Tally could not read of them',
    plural: 'agents',
    examples: ['tally users agents', 'tally users agents --user ada@example.com', 'tally users agents --reads-all no'],
    columns: [
      { title: 'PERSON', of: ({ user }) => user.name },
      { title: 'AGENT', of: ({ agent_harness, version }) => agentText(agent_harness, version) },
      { title: 'MACHINE', rank: 1, of: ({ machine }) => machine },
      { title: 'TALLY', rank: 2, of: ({ tally_version }) => tally_version },
      { title: 'SESSIONS', of: ({ sessions }) => String(sessions), align: 'right' },
      { title: 'NOT READ', of: ({ not_read }) => not_read.map(notReadText).join(', ') || 'nothing' },
      { title: 'REPORTED (UTC)', rank: 1, of: ({ reported_at }) => minute(reported_at) },
    ],
    howToAdd: 'Hooks and `tally agents scan --report` report them.',
  })
  addUsersUnlockCommand(users)
  addAction(users, changeUser, {
    name: 'change',
    description: 'Change a person’s name, e-mail address or role',
    subject,
    flags: { email: '--email <address>', name: '--name <name>', role: '--role <role>' },
    examples: ["tally users change grace@example.com --name 'Grace Hopper'"],
    show: roleText,
  })
  addAction(users, changeUser, {
    name: 'set-role',
    description: 'Change the role of a person; it applies to their tokens at once',
    subject,
    positional: ['role'],
    flags: { email: [], name: [] },
    examples: ['tally users set-role grace@example.com billing'],
    show: roleText,
  })
  addUsersGrantCommands(users)
  addUsersEmailsCommand(users)
  addAction(users, disableUser, {
    name: 'disable',
    description:
      'Disable an account: sign the person out and stop their service, read and API tokens; organization tokens keep working',
    summary: 'Disable an account and its tokens, except those of the organization',
    subject,
    examples: ['tally users disable grace@example.com'],
    show: printDisabled,
  })
  addAction(users, enableUser, {
    name: 'enable',
    description: 'Enable a disabled account and its tokens',
    subject,
    examples: ['tally users enable grace@example.com'],
    show: ({ name, email }) => `${name} (${email}) is enabled, and so are their tokens.`,
  })
  addUsersSetPasswordCommand(users)
  addUsersLinkCommands(users)
  addUsersExportCommand(users)
  addUsersEraseCommand(users)
}

function roleText({ name, email, role }: UserBody): string {
  return `${name} (${email}) has the role ${role}.`
}

function printDisabled({ name, email, tokens_in_use: tokens }: DisabledUser): undefined {
  print(`${name} (${email}) is disabled.`)
  if (tokens.length === 0) return
  print('These tokens were used in the last 30 days and no longer work:')
  printTable(
    [
      { title: 'NAME', of: (token) => token.name },
      { title: 'TOKEN', of: hintText },
      { title: 'LAST USED (UTC)', of: ({ last_used_at }) => minute(last_used_at) },
      { title: 'ID', of: ({ id }) => id },
    ],
    tokens,
  )
}

function addUsersUnlockCommand(users: Command): void {
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

function addUsersSetPasswordCommand(users: Command): void {
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

function addUsersShowCommand(users: Command): void {
  users
    .command('show')
    .description('Show one person')
    .argument('<user>', USER)
    .option('--json', 'print the person as JSON')
    .addHelpText('after', examples('tally users show grace@example.com'))
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { user, slowdown } = await withServices(flags, async ({ people }) => {
        const user = await people.getUser(who)
        return { user, slowdown: await people.findSlowdown(user) }
      })
      const body = userBody(user)
      if (flags.json) return printJson(body)
      const at = (moment: string | null) => (moment === null ? 'never' : `${minute(moment)} UTC`)
      print(`${body.name} (${body.email}): ${body.id}`)
      print(`role       ${body.role}`)
      print(`state      ${stateOf(body)}`)
      print(`password   ${body.has_password ? 'set' : `not set; run tally users invite ${body.email}`}`)
      print(`added      ${at(body.created_at)}`)
      print(`signed in  ${at(body.last_signed_in_at)}`)
      if (slowdown) {
        const since = at(new Date(slowdown.since).toISOString())
        print(`locked     sign-in delayed after wrong passwords since ${since}; run tally users unlock ${body.email}`)
      }
    })
}

function addUsersEmailsCommand(users: Command): void {
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

function addUsersAddCommand(users: Command): void {
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
        note(`This viewer can’t see anything yet. To grant access: tally users grant ${body.email}`)
      if (!body.has_password)
        note(`They need a password to sign in. To print a link to choose one: tally users invite ${body.email}`)
    })
}

const FORMATS: PersonalDataFormat[] = ['json', 'csv']

interface ExportFlags extends DatabaseFlags {
  format: PersonalDataFormat
  output?: string
  force?: boolean
}

function addUsersExportCommand(users: Command): void {
  users
    .command('export')
    .description('Write everything that names a person or that they wrote to a file, without secrets')
    .argument('<user>', USER)
    .addOption(
      new Option('--format <format>', 'json, or csv: a ZIP archive with a CSV file for each kind of object')
        .choices(FORMATS)
        .default('json'),
    )
    .option('-o, --output <file>', 'output file, or - for standard output (default: named after the person’s id)')
    .option('--force', 'overwrite an existing file')
    .addHelpText(
      'after',
      examples('tally users export ada@example.com', 'tally users export ada@example.com --format csv -o ada.zip'),
    )
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<ExportFlags>()
      await withServices(flags, async ({ people, personalData }, { by }) => {
        const { uid } = await people.getUser(who)
        const path = flags.output ?? `${uid}.${flags.format === 'json' ? 'json' : 'zip'}`
        if (path !== '-' && !flags.force && existsSync(path)) {
          throw new CommandError(`${path} already exists. Choose another file with -o, or add --force to overwrite it.`)
        }
        const pieces = await personalData.exportPerson(uid, flags.format, by)
        if (path === '-') return printPieces(pieces)
        await writePrivately(path, pieces)
        print(`Wrote ${path}. It contains personal data: only you can read it.`)
      })
    })
}

/** A new file that nobody else can read; an incomplete one is removed. */
async function writePrivately(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  rmSync(path, { force: true })
  try {
    await pipeline(Readable.from(pieces), createWriteStream(path, { mode: 0o600, flags: 'wx' }))
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}
