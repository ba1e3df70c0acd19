import type { Command } from 'commander'
import type { TicketBody } from '../../features/projects/schema.ts'
import { addShowCommand, archivedText } from '../work-commands.ts'
import { isConflicting, TICKET } from './ticket.ts'

export function addTicketsShowCommand(tickets: Command): void {
  addShowCommand(
    tickets,
    TICKET,
    ({ projects }, named) => projects.showTicket(named),
    (ticket) => [
      ['ticket', ticket.key],
      ['id', ticket.id],
      ['title', ticket.title],
      ['state', archivedText(ticket.archived_at)],
      ['project', projectText(ticket)],
      ...assumedFields(ticket),
    ],
  )
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
    `${project ? projectName(project) : 'no project'}, in the reports of ${agent_managers} ${agent_managers === 1 ? 'person' : 'people'}`,
  ])
}
