import { Elysia, t } from 'elysia'
import { access, partyOf, viewerOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { answerList } from '../../../http/list.ts'
import { listPage, listSort } from '../../../operations/parameters.ts'
import { archivedAndSearch, MAY_CHANGE } from '../../../operations/work.ts'
import { CLIENT_COLUMNS } from '../csv.ts'
import { EXAMPLE_CLIENT, EXAMPLE_NEW_CLIENT } from '../examples.ts'
import { readClientList } from '../query.ts'
import { ClientBody, ClientChange, ClientList, NewClient } from '../schema.ts'
import { type ClientView, clientBody, type ProjectsService, pageBehindClient, readClient, sightOf } from '../service.ts'
import { CLIENT_SORTS } from '../sorts.ts'

const tag = 'Work'

const ClientQuery = t.Object(
  { ...archivedAndSearch('Text to search for in the name.'), ...listSort(CLIENT_SORTS), ...listPage('Clients') },
  { additionalProperties: false },
)

const path = { id: 'Id (cli_…) or name of the client.' }
const answer = { 200: { description: 'The client.', schema: ClientBody, example: EXAMPLE_CLIENT } }
const keyOf = ({ id }: ClientView) => id

export const clientsRoutes = ({ projects }: { projects: ProjectsService }) =>
  new Elysia({ name: 'clients', normalize: false })
    .use(access())
    .get(
      '',
      async ({ query, caller, request }) => {
        const viewer = viewerOf(caller)
        const asked = readClientList(query)
        return answerList(request, asked, {
          list: (page) => projects.listClients(asked.filter, page),
          keyOf,
          pageBehind: pageBehindClient,
          bodyOf: (client) => clientBody(client, sightOf(viewer, client)),
          columns: CLIENT_COLUMNS,
          fileName: 'clients.csv',
        })
      },
      {
        allow: ['read', 'session'],
        scope: 'projects:read',
        query: ClientQuery,
        detail: documented({
          id: 'listClients',
          tag,
          summary: 'List clients',
          description:
            'Newest first. Members see only names, and leads of a client also its leads and approvers; billing and admin see everything.',
          responses: {
            200: {
              description: 'A page of clients.',
              schema: ClientList,
              example: { data: [EXAMPLE_CLIENT], has_more: false, next_page: null },
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
        const added = await projects.addClient(partyOf({ caller, address }), { ...readClient(body), name: body.name })
        set.status = 201
        set.headers.location = `/api/v1/clients/${added.uid}`
        return clientBody(added, 'everything')
      },
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        parse: 'report',
        body: NewClient,
        detail: documented({
          id: 'addClient',
          tag,
          summary: 'Add a client',
          body: { example: EXAMPLE_NEW_CLIENT },
          responses: {
            201: {
              description: 'The client was added.',
              schema: ClientBody,
              headers: ['Location'],
              example: EXAMPLE_CLIENT,
            },
          },
          problems: ['already_exists'],
        }),
      },
    )
    .get(
      '/:id',
      async ({ params, caller }) => {
        const client = await projects.getClient(params.id)
        return clientBody(client, sightOf(viewerOf(caller), client))
      },
      {
        allow: ['read', 'session'],
        scope: 'projects:read',
        object: 'cli',
        detail: documented({ id: 'getClient', tag, summary: 'Get a client', path, responses: answer }),
      },
    )
    .patch(
      '/:id',
      async ({ params, body, caller, address }) =>
        clientBody(
          await projects.changeClient(partyOf({ caller, address }), params.id, readClient(body)),
          'everything',
        ),
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        object: 'cli',
        parse: 'report',
        body: ClientChange,
        detail: documented({
          id: 'changeClient',
          tag,
          summary: 'Update a client',
          description: 'Absent fields stay unchanged; null clears a field. Sent bills do not change.',
          path,
          body: { example: { markup: 15, tax_id: null } },
          responses: answer,
          problems: ['already_exists'],
        }),
      },
    )
    .delete(
      '/:id',
      async ({ params, caller, address, set }) => {
        await projects.removeClient(partyOf({ caller, address }), params.id)
        set.status = 204
      },
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        object: 'cli',
        detail: documented({
          id: 'removeClient',
          tag,
          summary: 'Remove an unused client',
          path,
          responses: { 204: { description: 'The client was removed.' } },
          problems: ['in_use'],
        }),
      },
    )
    .post(
      '/:id/archive',
      async ({ params, caller, address }) =>
        clientBody(await projects.archiveClient(partyOf({ caller, address }), params.id), 'everything'),
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        object: 'cli',
        detail: documented({
          id: 'archiveClient',
          tag,
          summary: 'Archive a client',
          description: 'Hides the client from lists. Its projects stay active and billable.',
          path,
          responses: answer,
        }),
      },
    )
    .post(
      '/:id/restore',
      async ({ params, caller, address }) =>
        clientBody(await projects.restoreClient(partyOf({ caller, address }), params.id), 'everything'),
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        object: 'cli',
        detail: documented({
          id: 'restoreClient',
          tag,
          summary: 'Restore an archived client',
          path,
          responses: answer,
        }),
      },
    )
