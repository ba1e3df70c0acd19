import type { Command } from 'commander'
import type { TicketBody } from '../../features/projects/schema.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { emptyText } from '../flags/filters.ts'
import { collect, examples } from '../flags/options.ts'
import { archivedOf, archivedText, type ListFlags, listedText, printList } from '../work-commands.ts'
import { isConflicting, TICKET } from './ticket.ts'

export function addTicketsListCommand(tickets: Command): void {
  tickets
    .command('list')
    .description('List tickets')
    .option('--search <text>', 'only tickets whose key or title contains the text')
    .option('--project <project>', 'id, key, name or alias, or none; repeatable or comma-separated', collect)
    .option('--conflicting', 'only tickets without a decided project for which reports name different projects')
    .option('--archived', 'only archived tickets')
    .option('--all', 'include archived tickets')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally tickets list --project ACME',
        'tally tickets list --conflicting',
        'tally tickets list --project none --json',
      ),
    )
    .action((_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags & { project?: string[]; conflicting?: boolean }>()
      const { search, project: projects, conflicting } = flags
      const filter = { search, projects, conflicting, archived: archivedOf(flags) }
      return printList(flags, TICKET, {
        check: (services) => services.projects.requireKnown('project', projects, '/query/project'),
        page: ({ projects }, _self, at) => projects.listTickets(filter, at),
        idOf: ({ ticket }) => ticket.id,
        columns: [
          { title: 'KEY', of: ({ key }) => key },
          { title: 'TITLE', of: ({ title }) => title ?? '–' },
          { title: 'PROJECT', of: ({ project }) => project?.key ?? '–' },
          { title: 'DECIDED', of: decisionText },
          { title: 'STATE', of: ({ archived_at }) => archivedText(archived_at) ?? 'active' },
          { title: 'ID', of: ({ id }) => id },
        ],
        empty: conflicting
          ? 'No tickets with conflicting projects.'
          : emptyText(
              flags,
              listedText(flags, 'tickets'),
              'They are created when a report names them, or with `tally tickets add`.',
            ),
      })
    })
}

function decisionText(ticket: TicketBody): string {
  if (ticket.project_decided) return 'yes'
  return isConflicting(ticket) ? 'conflict' : 'no'
}
