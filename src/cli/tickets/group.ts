import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addTicketsAddCommand } from './add.ts'
import { addTicketsArchiveCommands } from './archive.ts'
import { addTicketsChangeCommand } from './change.ts'
import { addTicketsListCommand } from './list.ts'
import { addTicketsShowCommand } from './show.ts'

export function addTicketsCommands(program: Command): void {
  const tickets = program
    .command('tickets')
    .description('List, add and change the tickets that entries are assigned to')
    .addHelpText(
      'after',
      examples(
        'tally tickets list --project ACME',
        'tally tickets list --conflicting',
        'tally tickets change ACME-42 --project ACME',
      ),
    )
  addTicketsListCommand(tickets)
  addTicketsShowCommand(tickets)
  addTicketsAddCommand(tickets)
  addTicketsChangeCommand(tickets)
  addTicketsArchiveCommands(tickets)
}
