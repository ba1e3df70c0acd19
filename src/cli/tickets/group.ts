import type { Command } from 'commander'
import type { TicketBody } from '../../features/projects/schema.ts'
import type { TicketView } from '../../features/projects/service.ts'
import { examples } from '../flags/options.ts'
import { note, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { act, addKeepingCommands, type Kind } from '../work-commands.ts'
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
} from '../work-text.ts'

const TICKET = 'key or id (tkt_…) of the ticket'

interface FieldFlags extends WorkFlags {
  title?: string
  project?: string
}

async function bodyOf(ticket: TicketView): Promise<TicketBody> {
  return (await work()).ticketBody(ticket, 'everything')
}

const KIND: Kind<TicketView, TicketBody> = {
  word: 'ticket',
  argument: TICKET,
  example: 'ACME-42',
  bodyOf,
  calledBy: ({ key }) => key,
}

function place({ project, assumed_projects }: TicketBody): string {
  if (project) return ` in ${project.key}`
  return isConflicting(assumed_projects) ? ' (project not decided)' : ' (no project)'
}

type Assumed = TicketBody['assumed_projects']

function isConflicting(assumed: Assumed): boolean {
  return assumed !== undefined && assumed.length > 1
}

function projectName({ key, name }: NonNullable<TicketBody['project']>): string {
  return `${key} (${name})`
}

function decisionText({ project_decided, assumed_projects }: TicketBody): string {
  if (project_decided) return 'yes'
  return isConflicting(assumed_projects) ? 'conflict' : 'no'
}

/** The project, and whether it applies to everyone's reports. */
function projectText({ project, project_decided, assumed_projects }: TicketBody): string {
  if (project) return `${projectName(project)}, ${project_decided ? 'decided' : 'assumed from reports'}`
  return isConflicting(assumed_projects) ? 'not decided: reports name different projects' : 'none, not decided'
}

/** The projects that reports name for the ticket, with the number of people. */
function assumedFields(assumed: Assumed): [name: string, value: string][] {
  return (assumed ?? []).map(({ project, agent_managers }) => [
    'assumed',
    `${project ? projectName(project) : 'no project'}, in the reports of ${agent_managers} ${agent_managers === 1 ? 'person' : 'people'}`,
  ])
}

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

  tickets
    .command('list')
    .description('List tickets')
    .option('--search <text>', 'only tickets whose key or title contains the text')
    .option('--project <project>', 'id, key, name or alias, or none; repeatable or comma-separated', collect)
    .option('--conflicting', 'only tickets without a decided project for which reports name different projects')
    .option('--archived', 'only archived tickets')
    .option('--all', 'include archived tickets')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally tickets list --project ACME',
        'tally tickets list --conflicting',
        'tally tickets list --project none --json',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags & { project?: string[]; conflicting?: boolean }>()
      const { search, project: projects, conflicting } = flags
      const filter = { search, projects, conflicting, archived: archivedOf(flags) }
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
          { title: 'DECIDED', of: decisionText },
          { title: 'STATE', of: ({ archived_at }) => sinceText(archived_at) ?? 'active' },
          { title: 'ID', of: ({ id }) => id },
        ],
        bodies.sort((one, other) => one.key.localeCompare(other.key, 'en', { numeric: true })),
      )
      if (bodies.length === 0) {
        note(
          conflicting
            ? 'No tickets with conflicting projects.'
            : 'No matching tickets. Tickets are created when a report names them, or with `tally tickets add`.',
        )
      }
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
        ['project', projectText(body)],
        ...assumedFields(body.assumed_projects),
      ])
    })

  tickets
    .command('add')
    .description('Add a ticket')
    .argument('<key>', 'key that reports use, such as ACME-42 or acme/web#17')
    .option('--title <text>', 'title of the ticket')
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
    .description('Change a ticket or set its project, which moves its unbilled entries and applies to later reports')
    .argument('<ticket>', TICKET)
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
      const { title, project } = command.optsWithGlobals<FieldFlags>()
      const given = { title: textOrNone(title), project: textOrNone(project) }
      requireFields(given, command)
      await act(
        command,
        KIND,
        ({ entries }, self) => entries.places.changeTicket(self, ticket, given),
        (changed) => `Changed ${changed.key}${place(changed)}.`,
      )
    })

  addKeepingCommands(tickets, KIND, {
    archive: {
      description: 'Archive a ticket: hide it from lists; reports that name it are still assigned to it',
      does: ({ projects }, self, ticket) => projects.archiveTicket(self, ticket),
    },
    restore: ({ projects }, self, ticket) => projects.restoreTicket(self, ticket),
    remove: {
      description: 'Remove a ticket without entries',
      does: ({ projects }, self, ticket) => projects.removeTicket(self, ticket),
    },
  })
}
