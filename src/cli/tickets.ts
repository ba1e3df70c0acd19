/** `tally tickets`. */
import type { Command } from 'commander'
import {
  addTicket,
  archiveTicket,
  changeTicket,
  getTicket,
  listTickets,
  removeTicket,
  restoreTicket,
} from '../features/projects/operations/tickets.ts'
import type { TicketBody } from '../features/projects/schema.ts'
import { examples } from './flags/options.ts'
import { addAction, addListing } from './operations.ts'
import { counted } from './terminal/numbers.ts'
import { ARCHIVED_FLAGS, addArchiving, archivedText, byName, listedText } from './work-commands.ts'

const subject = 'ticket'

const flags = { project: '--project <project>' }

const CONFLICTING = {
  flag: '--conflicting',
  doc: 'only tickets without a decided project for which reports name different projects',
  value: 'true',
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
  addListing(tickets, listTickets, {
    flags: { ...ARCHIVED_FLAGS, project: '--project <project>', conflicting: CONFLICTING },
    examples: [
      'tally tickets list --project ACME',
      'tally tickets list --conflicting',
      'tally tickets list --project none --json',
    ],
    columns: [
      { title: 'KEY', of: ({ key }) => key },
      { title: 'TITLE', of: ({ title }) => title ?? '–' },
      { title: 'PROJECT', of: ({ project }) => project?.key ?? '–' },
      { title: 'DECIDED', of: decisionText },
      { title: 'STATE', of: ({ archived_at }) => archivedText(archived_at) ?? 'active' },
      { title: 'ID', of: ({ id }) => id },
    ],
    order: byName(({ key }) => key, { numeric: true }),
    listed: (given) => listedText(given, 'tickets'),
    howToAdd: 'They are created when a report names them, or with `tally tickets add`.',
  })
  addAction(tickets, getTicket, {
    name: 'show',
    description: 'Show a ticket',
    subject,
    examples: ['tally tickets show ACME-42'],
    show: (ticket) => [
      ['ticket', ticket.key],
      ['id', ticket.id],
      ['title', ticket.title],
      ['state', archivedText(ticket.archived_at)],
      ['project', projectText(ticket)],
      ...assumedFields(ticket),
    ],
  })
  addAction(tickets, addTicket, {
    name: 'add',
    positional: ['key'],
    flags,
    examples: ['tally tickets add ACME-42 --project ACME --title "Checkout loses the basket"'],
    show: (ticket) => `Added ${ticket.key}${inProject(ticket)}: ${ticket.id}`,
  })
  addAction(tickets, changeTicket, {
    name: 'change',
    description: 'Change a ticket or set its project, which moves its unbilled entries and applies to later reports',
    subject,
    flags,
    examples: [
      'tally tickets change ACME-42 --project ACME',
      'tally tickets change ACME-42 --title "Checkout loses the basket"',
    ],
    show: (ticket) => `Changed ${ticket.key}${inProject(ticket)}.`,
  })
  addArchiving(tickets, [archiveTicket, restoreTicket, removeTicket], {
    subject,
    example: 'ACME-42',
    nameOf: ({ key }) => key,
    archive: 'Archive a ticket: hide it from lists; reports that name it are still assigned to it',
    remove: 'Remove a ticket without entries',
  })
}

/** Whether reports name different projects for a ticket without a decided one. */
function isConflicting({ assumed_projects }: TicketBody): boolean {
  return assumed_projects !== undefined && assumed_projects.length > 1
}

/** The project at the end of a sentence. */
function inProject(ticket: TicketBody): string {
  if (ticket.project) return ` in ${ticket.project.key}`
  return isConflicting(ticket) ? ' (project not decided)' : ' (no project)'
}

function decisionText(ticket: TicketBody): string {
  if (ticket.project_decided) return 'yes'
  return isConflicting(ticket) ? 'conflict' : 'no'
}

function projectName({ key, name }: NonNullable<TicketBody['project']>): string {
  return `${key} (${name})`
}

/** The project, and whether it applies to everyone's reports. */
function projectText(ticket: TicketBody): string {
  const { project, project_decided } = ticket
  if (project) return `${projectName(project)}, ${project_decided ? 'decided' : 'assumed from reports'}`
  return isConflicting(ticket) ? 'not decided: reports name different projects' : 'none, not decided'
}

/** The projects that reports name for the ticket, with the number of people. */
function assumedFields({ assumed_projects = [] }: TicketBody): [name: string, value: string][] {
  return assumed_projects.map(({ project, agent_managers }) => [
    'assumed',
    `${project ? projectName(project) : 'no project'}, in the reports of ${counted(agent_managers, 'person', 'people')}`,
  ])
}
