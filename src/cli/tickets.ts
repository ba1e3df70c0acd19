import type { Command } from 'commander'
import type { TicketBody } from '../features/projects/schema.ts'
import type { TicketView } from '../features/projects/service.ts'
import { examples } from './options.ts'
import { note, printJson, printJsonList, printTable } from './print.ts'
import { withServices } from './with-services.ts'
import { act, addKeepingCommands, type Kind } from './work-commands.ts'
import {
  archivedOf,
  collect,
  everyPage,
  type ListFlags,
  printFields,
  requireFields,
  sinceText,
  textOrNone,
  type WorkFlags,
  work,
} from './work-text.ts'

const TICKET = 'key or id (tkt_…) of the ticket'

interface FieldFlags extends WorkFlags {
  title?: string
  project?: string
}

async function bodyOf(ticket: TicketView): Promise<TicketBody> {
  return (await work()).ticketBody(ticket)
}

const KIND: Kind<TicketView, TicketBody> = {
  word: 'ticket',
  argument: TICKET,
  example: 'ACME-42',
  bodyOf,
  calledBy: ({ key }) => key,
}

function place({ project }: TicketBody): string {
  return project ? ` of ${project.key}` : ', which has no project'
}

export function addTicketsCommands(program: Command): void {
  const tickets = program
    .command('tickets')
    .description('List, add and change tickets, by whose keys reports name their work')
    .addHelpText('after', examples('tally tickets list --project ACME', 'tally tickets change ACME-42 --project ACME'))

  tickets
    .command('list')
    .description('List tickets')
    .option('--search <text>', 'only those whose key or title contains the text')
    .option('--project <project>', 'id, key, name or alias, or none; repeatable or with commas', collect)
    .option('--archived', 'only archived ones')
    .option('--all', 'archived ones as well')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally tickets list --project ACME', 'tally tickets list --project none --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags & { project?: string[] }>()
      const filter = { search: flags.search, projects: flags.project, archived: archivedOf(flags) }
      const rows = await withServices(flags, ({ projects }) =>
        everyPage(
          (page) => projects.listTickets(filter, page),
          ({ ticket }) => ticket.id,
        ),
      )
      const bodies = await Promise.all(rows.map(bodyOf))
      if (flags.json) return printJsonList(bodies)
      printTable(
        [
          { title: 'KEY', of: ({ key }) => key },
          { title: 'TITLE', of: ({ title }) => title ?? '–' },
          { title: 'PROJECT', of: ({ project }) => project?.key ?? '–' },
          { title: 'STATE', of: ({ archived_at }) => sinceText(archived_at) ?? 'active' },
          { title: 'ID', of: ({ id }) => id },
        ],
        bodies.sort((one, other) => one.key.localeCompare(other.key, 'en', { numeric: true })),
      )
      if (bodies.length === 0)
        note('There is no such ticket. Reports make them by naming them, or `tally tickets add`.')
    })

  tickets
    .command('show')
    .description('Show a ticket')
    .argument('<ticket>', TICKET)
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally tickets show ACME-42'))
    .action(async (ticket: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<WorkFlags>()
      const body = await bodyOf(await withServices(flags, ({ projects }) => projects.showTicket(ticket)))
      if (flags.json) return printJson(body)
      printFields([
        ['ticket', body.key],
        ['id', body.id],
        ['title', body.title],
        ['state', sinceText(body.archived_at)],
        ['project', body.project && `${body.project.key} (${body.project.name})`],
      ])
    })

  tickets
    .command('add')
    .description('Add a ticket')
    .argument('<key>', 'by which reports name it, such as ACME-42 or acme/web#17')
    .option('--title <text>', 'what it is about')
    .option('--project <project>', 'id, key, name or alias of its project')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally tickets add ACME-42 --project ACME --title "Checkout loses the basket"'))
    .action(async (key: string, _flags, command: Command) => {
      const { title, project } = command.optsWithGlobals<FieldFlags>()
      await act(
        command,
        KIND,
        ({ projects }, self) => projects.addNewTicket(self, { key, title, project }),
        (ticket) => `Added ${ticket.key}${place(ticket)}: ${ticket.id}`,
      )
    })

  tickets
    .command('change')
    .description('Change a ticket; its entries that are on no bill follow it to another project')
    .argument('<ticket>', TICKET)
    .option('--title <text>', 'what it is about, or none')
    .option('--project <project>', 'id, key, name or alias of its project, or none')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally tickets change ACME-42 --project ACME'))
    .action(async (ticket: string, _flags, command: Command) => {
      const { title, project } = command.optsWithGlobals<FieldFlags>()
      const given = { title: textOrNone(title), project: textOrNone(project) }
      requireFields(given, command)
      await act(
        command,
        KIND,
        ({ entries }, self) => entries.changeTicket(self, ticket, given),
        (changed) => `Changed ${changed.key}${place(changed)}.`,
      )
    })

  addKeepingCommands(tickets, KIND, {
    archive: {
      description: 'Take a ticket out of lists; reports that name it still arrive there',
      does: ({ projects }, self, ticket) => projects.archiveTicket(self, ticket),
    },
    restore: ({ projects }, self, ticket) => projects.restoreTicket(self, ticket),
    remove: {
      description: 'Remove a ticket that has no entry',
      does: ({ projects }, self, ticket) => projects.removeTicket(self, ticket),
    },
  })
}
