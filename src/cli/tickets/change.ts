import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples, requireFields, textOrNone } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { inProject, TICKET, type TicketFlags } from './ticket.ts'

export function addTicketsChangeCommand(tickets: Command): void {
  tickets
    .command('change')
    .description('Change a ticket or set its project, which moves its unbilled entries and applies to later reports')
    .argument('<ticket>', TICKET.argument)
    .option('--title <text>', 'title, or none')
    .option(
      '--project <project>',
      "id, key, name or alias of the project, which then applies to everyone's reports; none clears it",
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally tickets change ACME-42 --project ACME',
        'tally tickets change ACME-42 --title "Checkout loses the basket"',
      ),
    )
    .action(async (ticket: string, _flags, command: Command) => {
      const { title, project } = command.optsWithGlobals<TicketFlags>()
      const given = { title: textOrNone(title), project: textOrNone(project) }
      requireFields(given, command)
      await act(
        command,
        ({ entries }, self) => entries.places.changeTicket(self, ticket, given),
        TICKET.bodyOf,
        (changed) => print(`Changed ${changed.key}${inProject(changed)}.`),
      )
    })
}
