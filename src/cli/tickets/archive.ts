import type { Command } from 'commander'
import { addArchiveCommands } from '../work-commands.ts'
import { TICKET } from './ticket.ts'

/** `tally tickets archive`, `restore` and `remove`. */
export function addTicketsArchiveCommands(tickets: Command): void {
  addArchiveCommands(
    tickets,
    TICKET,
    {
      archive: ({ projects }, self, ticket) => projects.archiveTicket(self, ticket),
      restore: ({ projects }, self, ticket) => projects.restoreTicket(self, ticket),
      remove: ({ projects }, self, ticket) => projects.removeTicket(self, ticket),
    },
    {
      archive: 'Archive a ticket: hide it from lists; reports that name it are still assigned to it',
      remove: 'Remove a ticket without entries',
    },
  )
}
