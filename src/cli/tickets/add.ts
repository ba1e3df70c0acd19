import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { inProject, TICKET, type TicketFlags } from './ticket.ts'

export function addTicketsAddCommand(tickets: Command): void {
  tickets
    .command('add')
    .description('Add a ticket')
    .argument('<key>', 'key that reports use, such as ACME-42 or acme/web#17')
    .option('--title <text>', 'title of the ticket')
    .option('--project <project>', 'id, key, name or alias of its project')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally tickets add ACME-42 --project ACME --title "Checkout loses the basket"'))
    .action((key: string, _flags, command: Command) => {
      const { title, project } = command.optsWithGlobals<TicketFlags>()
      return act(
        command,
        ({ projects }, self) => projects.addNewTicket(self, { key, title, project }),
        TICKET.bodyOf,
        (ticket) => print(`Added ${ticket.key}${inProject(ticket)}: ${ticket.id}`),
      )
    })
}
