/** Serialization of clients, projects and tickets, as far as the viewer can see them, and parsing. */
import { type Issue, validationFailed } from '../../errors.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { numberText } from '../../lib/exact-json.ts'
import { decimalNumber, moneyNumber } from '../../lib/money.ts'
import type { Sight } from './access.ts'
import type { ClientFields, ProjectFields, TicketFields } from './fields.ts'
import type {
  ClientBody,
  ClientChange,
  NewClient,
  NewProject,
  NewTicket,
  ProjectBody,
  ProjectChange,
  TicketBody,
  TicketChange,
} from './schema.ts'
import type { ClientRow } from './store/clients.ts'
import type { ProjectView } from './store/projects.ts'
import type { TicketView } from './store/tickets.ts'
import { BUDGET_EXPECTED, MARKUP_DIGITS, MARKUP_EXPECTED, parseBudget, parseMarkup } from './validation.ts'

function percent(ppm: number | null): number | null {
  return ppm === null ? null : decimalNumber(BigInt(ppm), MARKUP_DIGITS)
}

export function clientBody(client: ClientRow, sight: Sight): ClientBody {
  return {
    id: client.uid,
    name: client.name,
    ...(sight === 'everything' && {
      email: client.email,
      address: client.address,
      tax_id: client.taxId,
      currency: client.currency,
      markup: percent(client.markupPpm),
    }),
    archived_at: timestampOrNull(client.archivedAt),
    created_at: timestamp(client.createdAt),
  }
}

export function projectBody({ project, client, aliases, leads, mergedInto }: ProjectView, sight: Sight): ProjectBody {
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
      leads: leads.map(({ uid, name }) => ({ id: uid, name })),
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

/** Throws 422 for what a schema cannot express. */
export function readClient(body: NewClient | ClientChange): ClientFields {
  const { name, email, address, tax_id, currency } = body
  const issues: Issue[] = []
  const markupPpm = readMarkup(body, issues)
  if (issues.length > 0) throw validationFailed(issues)
  return { name, email, address, taxId: tax_id, currency, markupPpm }
}

/** Throws 422 for what a schema cannot express. */
export function readProject(body: NewProject | ProjectChange): ProjectFields {
  const { key, name, aliases, client, billable, budget, leads } = body
  const issues: Issue[] = []
  const markupPpm = readMarkup(body, issues)
  // The body itself, which knows the digits as they were sent.
  const budgetNanos =
    budget === undefined || budget === null ? budget : parseBudget(numberText(body as { budget: number }, 'budget'))
  if (budget !== undefined && budgetNanos === undefined) {
    issues.push({ pointer: '/budget', code: 'not_allowed', message: BUDGET_EXPECTED })
  }
  if (issues.length > 0) throw validationFailed(issues)
  return { key, name, aliases, client, billable, markupPpm, budgetNanos, leads }
}

function readMarkup(body: { markup?: number | null }, issues: Issue[]): number | null | undefined {
  if (body.markup === undefined || body.markup === null) return body.markup
  const markupPpm = parseMarkup(numberText(body as { markup: number }, 'markup'))
  if (markupPpm === undefined) issues.push({ pointer: '/markup', code: 'not_allowed', message: MARKUP_EXPECTED })
  return markupPpm
}

export function readTicket(body: NewTicket | TicketChange): TicketFields {
  return { ...('key' in body && { key: body.key }), title: body.title, project: body.project }
}
