import { Elysia, t } from 'elysia'
import type { Caller } from '../../../access/caller.ts'
import { access, partyOf, viewerOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { answerList } from '../../../http/list.ts'
import { listPage, listParameter, listSort, parameter } from '../../../operations/parameters.ts'
import { archivedAndSearch, MAY_CHANGE } from '../../../operations/work.ts'
import { TICKET_COLUMNS } from '../csv.ts'
import { EXAMPLE_NEW_TICKET, EXAMPLE_TICKET } from '../examples.ts'
import { readTicketList } from '../query.ts'
import { NewTicket, TicketBody, TicketChange, TicketList } from '../schema.ts'
import {
  type EntryRelocation,
  type ProjectsService,
  pageBehindTicket,
  readTicket,
  sightOfTicket,
  type TicketView,
  ticketBody,
} from '../service.ts'
import { TICKET_SORTS } from '../sorts.ts'

const tag = 'Work'

const TicketQuery = t.Object(
  {
    ...archivedAndSearch('Text to search for in the key and the title.'),
    project: listParameter('Id, key, name or alias of a project; `none` for tickets without one.'),
    conflicting: parameter({
      type: 'boolean',
      description:
        "Whether different people's reports name different projects for the ticket and its project is not yet decided.",
    }),
    ...listSort(TICKET_SORTS),
    ...listPage('Tickets'),
  },
  { additionalProperties: false },
)

const path = { id: 'Id (tkt_…) or key of the ticket.' }
const answer = { 200: { description: 'The ticket.', schema: TicketBody, example: EXAMPLE_TICKET } }
const keyOf = ({ ticket }: TicketView) => ticket.id

function shown(caller: Caller | null, view: TicketView): TicketBody {
  return ticketBody(view, sightOfTicket(viewerOf(caller), view))
}

interface Dependencies {
  projects: ProjectsService
  /** `places` of the entries' service. */
  relocation: EntryRelocation
}

export const ticketsRoutes = ({ projects, relocation }: Dependencies) =>
  new Elysia({ name: 'tickets', normalize: false })
    .use(access())
    .get(
      '',
      async ({ query, request, caller }) => {
        const asked = readTicketList(query)
        await projects.requireKnown('project', asked.filter.projects, '/query/project')
        return answerList(request, asked, {
          list: (page) => projects.listTickets(asked.filter, page),
          keyOf,
          pageBehind: pageBehindTicket,
          bodyOf: (view) => shown(caller, view),
          columns: TICKET_COLUMNS,
          fileName: 'tickets.csv',
        })
      },
      {
        allow: ['read', 'session'],
        scope: 'projects:read',
        query: TicketQuery,
        detail: documented({
          id: 'listTickets',
          tag,
          summary: 'List tickets',
          description: 'Newest first.',
          responses: {
            200: {
              description: 'A page of tickets.',
              schema: TicketList,
              example: { data: [EXAMPLE_TICKET], has_more: false, next_page: null },
              also: { 'text/csv': { schema: t.String() } },
            },
          },
          problems: ['database_deadline'],
        }),
      },
    )
    .post(
      '',
      async ({ body, caller, address, set }) => {
        const added = await projects.addNewTicket(partyOf({ caller, address }), { ...readTicket(body), key: body.key })
        set.status = 201
        set.headers.location = `/api/v1/tickets/${added.ticket.uid}`
        return shown(caller, added)
      },
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        parse: 'report',
        body: NewTicket,
        detail: documented({
          id: 'addTicket',
          tag,
          summary: 'Add a ticket',
          description: 'Tickets are also added automatically when a report names a new one.',
          body: { example: EXAMPLE_NEW_TICKET },
          responses: {
            201: {
              description: 'The ticket was added.',
              schema: TicketBody,
              headers: ['Location'],
              example: EXAMPLE_TICKET,
            },
          },
          problems: ['already_exists'],
        }),
      },
    )
    .get('/:id', async ({ params, caller }) => shown(caller, await projects.showTicket(params.id)), {
      allow: ['read', 'session'],
      scope: 'projects:read',
      object: 'tkt',
      detail: documented({ id: 'getTicket', tag, summary: 'Get a ticket', path, responses: answer }),
    })
    .patch(
      '/:id',
      async ({ params, body, caller, address }) =>
        shown(caller, await relocation.changeTicket(partyOf({ caller, address }), params.id, readTicket(body))),
      {
        allow: ['session'],
        scope: 'projects:write',
        object: 'tkt',
        parse: 'report',
        body: TicketChange,
        detail: documented({
          id: 'changeTicket',
          tag,
          summary: 'Update a ticket',
          description:
            "Absent fields stay unchanged; null clears a field. Setting `project` decides the project for everyone: all unbilled entries of the ticket move there, and later reports that name the ticket are assigned there, whatever project they name. Null withdraws the decision, if there is one. Requires the role billing or admin. Leads of the ticket's project can change the title; leads of the new project can assign a ticket that belongs to no other project and has no entries they cannot see.",
          path,
          body: { example: { title: 'Checkout loses the basket', project: 'ACME' } },
          responses: answer,
        }),
      },
    )
    .delete(
      '/:id',
      async ({ params, caller, address, set }) => {
        await projects.removeTicket(partyOf({ caller, address }), params.id)
        set.status = 204
      },
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        object: 'tkt',
        detail: documented({
          id: 'removeTicket',
          tag,
          summary: 'Remove an unused ticket',
          path,
          responses: { 204: { description: 'The ticket was removed.' } },
          problems: ['in_use'],
        }),
      },
    )
    .post(
      '/:id/archive',
      async ({ params, caller, address }) =>
        shown(caller, await projects.archiveTicket(partyOf({ caller, address }), params.id)),
      {
        allow: ['session'],
        scope: 'projects:write',
        object: 'tkt',
        detail: documented({
          id: 'archiveTicket',
          tag,
          summary: 'Archive a ticket',
          description:
            'Hides the ticket from lists; reports that name it are still assigned to it. Requires the role billing or admin, or being a lead of its project.',
          path,
          responses: answer,
        }),
      },
    )
    .post(
      '/:id/restore',
      async ({ params, caller, address }) =>
        shown(caller, await projects.restoreTicket(partyOf({ caller, address }), params.id)),
      {
        allow: ['session'],
        scope: 'projects:write',
        object: 'tkt',
        detail: documented({
          id: 'restoreTicket',
          tag,
          summary: 'Restore an archived ticket',
          description: 'Requires the role billing or admin, or being a lead of its project.',
          path,
          responses: answer,
        }),
      },
    )
