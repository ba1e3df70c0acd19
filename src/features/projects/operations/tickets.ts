import type { Viewer } from '../../../access/visibility.ts'
import { listing, operation, result } from '../../../operations/operation.ts'
import { flagParameter, listParameter, listSort } from '../../../operations/parameters.ts'
import { archivedAndSearch, CHANGING, MAY_CHANGE, READING } from '../../../operations/work.ts'
import { sightOfTicket } from '../access.ts'
import { TICKET_COLUMNS } from '../csv.ts'
import { EXAMPLE_NEW_TICKET, EXAMPLE_TICKET } from '../examples.ts'
import type { EntryRelocation } from '../merge.ts'
import { readTicketList } from '../query.ts'
import { readTicket } from '../request.ts'
import { NewTicket, TicketBody, TicketChange, TicketList } from '../schema.ts'
import type { ProjectsService, TicketView } from '../service.ts'
import { TICKET_SORTS } from '../sorts.ts'
import { ticketBody } from '../wire.ts'

interface Needs {
  projects: ProjectsService
  entries: { places: EntryRelocation }
}

const seen = (view: TicketView, { viewer }: { viewer: Viewer }) => ticketBody(view, sightOfTicket(viewer, view))

const TICKET = result('The ticket.', TicketBody, EXAMPLE_TICKET)

/** Leads may change tickets of their projects. */
const changing = { ...CHANGING, allow: ['session'] } as const
const one = { object: 'tkt', params: { id: 'Id (tkt_…) or key of the ticket.' } } as const

export const listTickets = listing({
  ...READING,
  id: 'listTickets',
  path: '/tickets',
  summary: 'List tickets',
  description: 'Newest first.',
  plural: 'tickets',
  query: {
    ...archivedAndSearch('Text to search for in the key and the title.'),
    project: listParameter('Id, key, name or alias of a project; `none` for tickets without one.'),
    conflicting: flagParameter(
      "Whether different people's reports name different projects for the ticket and its project is not yet decided.",
    ),
    ...listSort(TICKET_SORTS),
  },
  page: TicketList,
  example: EXAMPLE_TICKET,
  columns: TICKET_COLUMNS,
  read: readTicketList,
  check: ({ projects }: Needs, filter) => projects.requireKnown('project', filter.projects, '/query/project'),
  rows: ({ projects }: Needs) => projects.ticketRows,
  bodyOf: seen,
})

export const addTicket = operation({
  ...changing,
  id: 'addTicket',
  method: 'POST',
  path: '/tickets',
  summary: 'Add a ticket',
  description: 'Tickets are also added automatically when a report names a new one.',
  allow: MAY_CHANGE,
  body: NewTicket,
  example: EXAMPLE_NEW_TICKET,
  answer: { ...TICKET, status: 201, description: 'The ticket was added.' },
  problems: ['already_exists'],
  run: async ({ projects }: Needs, call) =>
    seen(await projects.addNewTicket(call.party, { ...readTicket(call.body), key: call.body.key }), call),
})

export const getTicket = operation({
  ...READING,
  ...one,
  id: 'getTicket',
  method: 'GET',
  path: '/tickets/:id',
  summary: 'Get a ticket',
  answer: TICKET,
  run: async ({ projects }: Needs, call) => seen(await projects.showTicket(call.params.id), call),
})

export const changeTicket = operation({
  ...changing,
  ...one,
  id: 'changeTicket',
  method: 'PATCH',
  path: '/tickets/:id',
  summary: 'Update a ticket',
  description:
    "Absent fields stay unchanged; null clears a field. Setting `project` decides the project for everyone: all unbilled entries of the ticket move there, and later reports that name the ticket are assigned there, whatever project they name. Null withdraws the decision, if there is one. Requires the role billing or admin. Leads of the ticket's project can change the title; leads of the new project can assign a ticket that belongs to no other project and has no entries they cannot see.",
  body: TicketChange,
  example: { title: 'Checkout loses the basket', project: 'ACME' },
  answer: TICKET,
  run: async ({ entries }: Needs, call) =>
    seen(await entries.places.changeTicket(call.party, call.params.id, readTicket(call.body)), call),
})

export const removeTicket = operation({
  ...changing,
  ...one,
  id: 'removeTicket',
  method: 'DELETE',
  path: '/tickets/:id',
  summary: 'Remove an unused ticket',
  allow: MAY_CHANGE,
  answer: { status: 204, description: 'The ticket was removed.' },
  problems: ['in_use'],
  run: ({ projects }: Needs, { party, params }) => projects.removeTicket(party, params.id),
})

export const archiveTicket = operation({
  ...changing,
  ...one,
  id: 'archiveTicket',
  method: 'POST',
  path: '/tickets/:id/archive',
  summary: 'Archive a ticket',
  description:
    'Hides the ticket from lists; reports that name it are still assigned to it. Requires the role billing or admin, or being a lead of its project.',
  answer: TICKET,
  run: async ({ projects }: Needs, call) => seen(await projects.archiveTicket(call.party, call.params.id), call),
})

export const restoreTicket = operation({
  ...changing,
  ...one,
  id: 'restoreTicket',
  method: 'POST',
  path: '/tickets/:id/restore',
  summary: 'Restore an archived ticket',
  description: 'Requires the role billing or admin, or being a lead of its project.',
  answer: TICKET,
  run: async ({ projects }: Needs, call) => seen(await projects.restoreTicket(call.party, call.params.id), call),
})

export const ticketOperations = [
  listTickets,
  addTicket,
  getTicket,
  changeTicket,
  removeTicket,
  archiveTicket,
  restoreTicket,
] as const
