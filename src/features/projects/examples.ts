/** Work as returned by the API, for the OpenAPI document. */
import type { ClientBody, MergeBody, NewClient, NewProject, NewTicket, ProjectBody, TicketBody } from './schema.ts'

export const EXAMPLE_CLIENT: ClientBody = {
  id: 'cli_01a1fa172a0277f3983322718874f3c1',
  name: 'Acme Ltd',
  email: 'bills@acme.example',
  address: '1 Road Runner Way\nTucson, AZ 85701',
  tax_id: 'US12-3456789',
  currency: 'EUR',
  markup: 12.5,
  reminders: true,
  tax_percent: 19,
  tax_name: 'VAT',
  leads: [{ id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' }],
  approvers: [],
  archived_at: null,
  created_at: '2026-11-02T09:00:00.000Z',
}

export const EXAMPLE_NEW_CLIENT: NewClient = {
  name: 'Acme Ltd',
  email: 'bills@acme.example',
  address: '1 Road Runner Way\nTucson, AZ 85701',
  currency: 'EUR',
  markup: 12.5,
}

export const EXAMPLE_PROJECT: ProjectBody = {
  id: 'prj_01a1fa172a0277f3983322718874f3d1',
  key: 'ACME',
  name: 'Acme web',
  aliases: ['acme/web'],
  client: { id: EXAMPLE_CLIENT.id, name: 'Acme Ltd' },
  billable: true,
  markup: null,
  budget: 2500,
  leads: [{ id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' }],
  approvers: [],
  client_leads: [],
  client_approvers: [],
  repositories: ['acme/web'],
  archived_at: null,
  merged_into: null,
  created_at: '2026-11-02T09:05:00.000Z',
}

export const EXAMPLE_NEW_PROJECT: NewProject = {
  key: 'ACME',
  name: 'Acme web',
  aliases: ['acme/web'],
  client: 'Acme Ltd',
  budget: 2500,
  leads: ['ada@example.com'],
}

export const EXAMPLE_TICKET: TicketBody = {
  id: 'tkt_01a1fa172a0277f3983322718874f3e1',
  key: 'ACME-42',
  title: 'Checkout loses the basket',
  project: { id: EXAMPLE_PROJECT.id, key: 'ACME', name: 'Acme web' },
  project_decided: true,
  assumed_projects: [],
  archived_at: null,
  created_at: '2026-11-02T09:10:00.000Z',
}

export const EXAMPLE_NEW_TICKET: NewTicket = {
  key: 'ACME-42',
  title: 'Checkout loses the basket',
  project: 'ACME',
}

export const EXAMPLE_MERGE: MergeBody = {
  dry_run: false,
  project: { id: 'prj_01a1fa172a0277f3983322718874f3d2', key: 'acme website', name: 'acme website' },
  into: { id: EXAMPLE_PROJECT.id, key: 'ACME', name: 'Acme web' },
  aliases: ['acme website'],
  entries: 214,
  unpriced_entries: 2,
  cost: 37.204118,
  billed_entries: 12,
  tickets: 3,
  former_leads: [],
  former_viewers: [],
  new_viewers: [],
  complete: true,
}
