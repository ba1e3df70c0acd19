import type { Viewer } from '../../../access/visibility.ts'
import { listing, operation, result } from '../../../operations/operation.ts'
import { listSort } from '../../../operations/parameters.ts'
import { archivedAndSearch, CHANGING, READING } from '../../../operations/work.ts'
import { sightOf } from '../access.ts'
import { CLIENT_COLUMNS } from '../csv.ts'
import { EXAMPLE_CLIENT, EXAMPLE_NEW_CLIENT } from '../examples.ts'
import { readClientList } from '../query.ts'
import { readClient } from '../request.ts'
import { ClientBody, ClientChange, ClientList, NewClient } from '../schema.ts'
import type { ClientView, ProjectsService } from '../service.ts'
import { CLIENT_SORTS } from '../sorts.ts'
import { clientBody } from '../wire.ts'

interface Needs {
  projects: ProjectsService
}

const seen = (client: ClientView, { viewer }: { viewer: Viewer }) => clientBody(client, sightOf(viewer, client))

const CLIENT = result('The client.', ClientBody, EXAMPLE_CLIENT)

const one = { object: 'cli', params: { id: 'Id (cli_…) or name of the client.' } } as const

export const listClients = listing({
  ...READING,
  id: 'listClients',
  path: '/clients',
  summary: 'List clients',
  description:
    'Newest first. Members see only names, and leads of a client also its leads and approvers; billing and admin see everything.',
  plural: 'clients',
  query: { ...archivedAndSearch('Text to search for in the name.'), ...listSort(CLIENT_SORTS) },
  page: ClientList,
  example: EXAMPLE_CLIENT,
  columns: CLIENT_COLUMNS,
  read: readClientList,
  rows: ({ projects }: Needs) => projects.clientRows,
  bodyOf: seen,
})

export const addClient = operation({
  ...CHANGING,
  id: 'addClient',
  method: 'POST',
  path: '/clients',
  summary: 'Add a client',
  body: NewClient,
  example: EXAMPLE_NEW_CLIENT,
  answer: { ...CLIENT, status: 201, description: 'The client was added.' },
  problems: ['already_exists'],
  run: async ({ projects }: Needs, call) =>
    seen(await projects.addClient(call.party, { ...readClient(call.body), name: call.body.name }), call),
})

export const getClient = operation({
  ...READING,
  ...one,
  id: 'getClient',
  method: 'GET',
  path: '/clients/:id',
  summary: 'Get a client',
  answer: CLIENT,
  run: async ({ projects }: Needs, call) => seen(await projects.getClient(call.params.id), call),
})

export const changeClient = operation({
  ...CHANGING,
  ...one,
  id: 'changeClient',
  method: 'PATCH',
  path: '/clients/:id',
  summary: 'Update a client',
  description: 'Absent fields stay unchanged; null clears a field. Sent bills do not change.',
  body: ClientChange,
  example: { markup: 15, tax_id: null },
  answer: CLIENT,
  problems: ['already_exists'],
  run: async ({ projects }: Needs, call) =>
    seen(await projects.changeClient(call.party, call.params.id, readClient(call.body)), call),
})

export const removeClient = operation({
  ...CHANGING,
  ...one,
  id: 'removeClient',
  method: 'DELETE',
  path: '/clients/:id',
  summary: 'Remove an unused client',
  answer: { status: 204, description: 'The client was removed.' },
  problems: ['in_use'],
  run: ({ projects }: Needs, { party, params }) => projects.removeClient(party, params.id),
})

export const archiveClient = operation({
  ...CHANGING,
  ...one,
  id: 'archiveClient',
  method: 'POST',
  path: '/clients/:id/archive',
  summary: 'Archive a client',
  description: 'Hides the client from lists. Its projects stay active and billable.',
  answer: CLIENT,
  run: async ({ projects }: Needs, call) => seen(await projects.archiveClient(call.party, call.params.id), call),
})

export const restoreClient = operation({
  ...CHANGING,
  ...one,
  id: 'restoreClient',
  method: 'POST',
  path: '/clients/:id/restore',
  summary: 'Restore an archived client',
  answer: CLIENT,
  run: async ({ projects }: Needs, call) => seen(await projects.restoreClient(call.party, call.params.id), call),
})

export const clientOperations = [
  listClients,
  addClient,
  getClient,
  changeClient,
  removeClient,
  archiveClient,
  restoreClient,
] as const
