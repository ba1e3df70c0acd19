import type { Command } from 'commander'
import { listAgentStatus } from '../../features/agent-status/operations/agent-status.ts'
import { changeUser, disableUser, enableUser, listUsers } from '../../features/people/operations/users.ts'
import type { DisabledUser, UserBody } from '../../features/people/schema.ts'
import { notReadText } from '../../shared/not-read.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import { minute, print, printTable } from '../terminal/print.ts'
import { hintText } from '../tokens.ts'
import { addUsersAddCommand } from './add.ts'
import { addUsersEmailsCommand } from './emails.ts'
import { addUsersEraseCommand } from './erase.ts'
import { addUsersExportCommand } from './export.ts'
import { addUsersGrantCommands } from './grants.ts'
import { addUsersLinkCommands } from './links.ts'
import { addUsersSetPasswordCommand } from './set-password.ts'
import { addUsersShowCommand } from './show.ts'
import { addUsersUnlockCommand } from './unlock.ts'
import { stateOf } from './user.ts'

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
      { title: 'AGENT', of: ({ agent_harness, version }) => [agent_harness, version].filter(Boolean).join(' ') },
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
