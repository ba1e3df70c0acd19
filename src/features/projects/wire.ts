/** Serialization of clients, projects and tickets, as far as the viewer can see them. */
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { decimalNumber, moneyNumber } from '../../lib/money.ts'
import type { Sight } from './access.ts'
import type { ClientBody, ProjectBody, TicketBody } from './schema.ts'
import type { ClientView } from './store/clients.ts'
import type { ProjectView } from './store/projects.ts'
import type { Responsible } from './store/responsible.ts'
import type { TicketView } from './store/tickets.ts'
import { MARKUP_DIGITS } from './validation.ts'

function percent(ppm: number | null): number | null {
  return ppm === null ? null : decimalNumber(BigInt(ppm), MARKUP_DIGITS)
}

function people(responsible: Responsible[]) {
  return responsible.map(({ uid, name }) => ({ id: uid, name }))
}

export function clientBody(client: ClientView, sight: Sight): ClientBody {
  return {
    id: client.uid,
    name: client.name,
    ...(sight === 'everything' && {
      email: client.email,
      address: client.address,
      tax_id: client.taxId,
      currency: client.currency,
      markup: percent(client.markupPpm),
      reminders: client.reminders,
      tax_percent: percent(client.taxPpm),
      tax_name: client.taxName,
    }),
    ...(sight !== 'names' && { leads: people(client.leads), approvers: people(client.approvers) }),
    archived_at: timestampOrNull(client.archivedAt),
    created_at: timestamp(client.createdAt),
  }
}

export function projectBody(view: ProjectView, sight: Sight): ProjectBody {
  const { project, client, aliases, mergedInto } = view
  return {
    id: project.uid,
    key: project.key,
    name: project.name,
    aliases,
    client: client && { id: client.uid, name: client.name },
    ...(sight !== 'names' && { billable: project.billable }),
    ...(sight === 'everything' && { markup: percent(project.markupPpm) }),
    ...(sight !== 'names' && {
      budget: moneyNumber(project.budget),
      leads: people(view.leads),
      approvers: people(view.approvers),
      client_leads: people(view.clientLeads),
      client_approvers: people(view.clientApprovers),
      repositories: view.repositories,
    }),
    archived_at: timestampOrNull(project.archivedAt),
    merged_into: mergedInto && projectReference(mergedInto),
    created_at: timestamp(project.createdAt),
  }
}

export function projectReference({ uid, key, name }: { uid: string; key: string; name: string }) {
  return { id: uid, key, name }
}

export function ticketBody({ ticket, project, assumed }: TicketView, sight: Sight): TicketBody {
  const unanimous = assumed.length === 1 ? assumed[0]!.project : null
  const shown = project ?? unanimous
  return {
    id: ticket.uid,
    key: ticket.key,
    title: ticket.title,
    project: shown && projectReference(shown),
    project_decided: project !== null,
    ...(sight !== 'names' && {
      assumed_projects: assumed.map((each) => ({
        project: each.project && projectReference(each.project),
        agent_managers: each.people,
      })),
    }),
    archived_at: timestampOrNull(ticket.archivedAt),
    created_at: timestamp(ticket.createdAt),
  }
}
