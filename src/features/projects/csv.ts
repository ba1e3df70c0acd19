/** The columns of exported lists of work, named as in the JSON. Fields that the viewer may not see are empty. */
import { type CsvColumn, fieldColumns } from '../../lib/csv-column.ts'
import type { ClientBody, ProjectBody, TicketBody } from './schema.ts'

/** A raw number's digits, exact at any size. */
function decimal(number: number | null | undefined): string | null {
  return number === null || number === undefined ? null : JSON.stringify(number)
}

function names(people: { name: string }[] | undefined): string | undefined {
  return people?.map(({ name }) => name).join('; ')
}

/** Names are not unique, and change. */
function ids(people: { id: string }[] | undefined): string | undefined {
  return people?.map(({ id }) => id).join('; ')
}

export const CLIENT_COLUMNS: CsvColumn<ClientBody>[] = [
  ...fieldColumns<ClientBody>('id', 'name', 'email', 'address', 'tax_id', 'currency'),
  { heading: 'markup', cell: (client) => decimal(client.markup) },
  ...fieldColumns<ClientBody>('archived_at', 'created_at'),
  { heading: 'leads', cell: (client) => names(client.leads) },
  { heading: 'approvers', cell: (client) => names(client.approvers) },
  { heading: 'reminders', cell: (client) => client.reminders },
  { heading: 'lead_ids', cell: (client) => ids(client.leads) },
  { heading: 'approver_ids', cell: (client) => ids(client.approvers) },
  { heading: 'tax_percent', cell: (client) => decimal(client.tax_percent) },
  { heading: 'tax_name', cell: (client) => client.tax_name },
]

export const PROJECT_COLUMNS: CsvColumn<ProjectBody>[] = [
  ...fieldColumns<ProjectBody>('id', 'key', 'name'),
  { heading: 'aliases', cell: (project) => project.aliases.join('; ') },
  { heading: 'client', cell: (project) => project.client?.name },
  { heading: 'billable', cell: (project) => project.billable?.toString() },
  { heading: 'markup', cell: (project) => decimal(project.markup) },
  { heading: 'budget', cell: (project) => decimal(project.budget) },
  { heading: 'leads', cell: (project) => names(project.leads) },
  { heading: 'archived_at', cell: (project) => project.archived_at },
  { heading: 'merged_into', cell: (project) => project.merged_into?.key },
  { heading: 'created_at', cell: (project) => project.created_at },
  { heading: 'approvers', cell: (project) => names(project.approvers) },
  { heading: 'client_leads', cell: (project) => names(project.client_leads) },
  { heading: 'client_approvers', cell: (project) => names(project.client_approvers) },
  { heading: 'lead_ids', cell: (project) => ids(project.leads) },
  { heading: 'approver_ids', cell: (project) => ids(project.approvers) },
  { heading: 'client_lead_ids', cell: (project) => ids(project.client_leads) },
  { heading: 'client_approver_ids', cell: (project) => ids(project.client_approvers) },
  { heading: 'repositories', cell: (project) => project.repositories?.join('; ') },
]

export const TICKET_COLUMNS: CsvColumn<TicketBody>[] = [
  ...fieldColumns<TicketBody>('id', 'key', 'title'),
  { heading: 'project', cell: (ticket) => ticket.project?.key },
  { heading: 'project_decided', cell: (ticket) => ticket.project_decided.toString() },
  ...fieldColumns<TicketBody>('archived_at', 'created_at'),
]
