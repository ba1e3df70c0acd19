/** A ticket on the command line. */
import type { TicketBody } from '../../features/projects/schema.ts'
import type { TicketView } from '../../features/projects/service.ts'
import type { CommandFlags } from '../with-services.ts'
import { type Kind, projectService } from '../work-commands.ts'

export const TICKET: Kind<TicketView, TicketBody> = {
  word: 'ticket',
  argument: 'key or id (tkt_…) of the ticket',
  example: 'ACME-42',
  bodyOf: async (ticket) => (await projectService()).ticketBody(ticket, 'everything'),
  nameOf: ({ key }) => key,
  isNumbered: true,
}

export interface TicketFlags extends CommandFlags {
  title?: string
  project?: string
}

/** Whether reports name different projects for a ticket without a decided one. */
export function isConflicting({ assumed_projects }: TicketBody): boolean {
  return assumed_projects !== undefined && assumed_projects.length > 1
}

/** The project at the end of a sentence. */
export function inProject(ticket: TicketBody): string {
  if (ticket.project) return ` in ${ticket.project.key}`
  return isConflicting(ticket) ? ' (project not decided)' : ' (no project)'
}
