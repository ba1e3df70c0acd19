import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addUsersAddCommand } from './add.ts'
import { addUsersChangeCommands } from './change.ts'
import { addUsersDisableCommands } from './disable.ts'
import { addUsersEmailsCommand } from './emails.ts'
import { addUsersEraseCommand } from './erase.ts'
import { addUsersExportCommand } from './export.ts'
import { addUsersGrantCommands } from './grants.ts'
import { addUsersLinkCommands } from './links.ts'
import { addUsersListCommand } from './list.ts'
import { addUsersSetPasswordCommand } from './set-password.ts'
import { addUsersShowCommand } from './show.ts'
import { addUsersUnlockCommand } from './unlock.ts'

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
  addUsersListCommand(users)
  addUsersShowCommand(users)
  addUsersUnlockCommand(users)
  addUsersChangeCommands(users)
  addUsersGrantCommands(users)
  addUsersEmailsCommand(users)
  addUsersDisableCommands(users)
  addUsersSetPasswordCommand(users)
  addUsersLinkCommands(users)
  addUsersExportCommand(users)
  addUsersEraseCommand(users)
}
