/** Query parameters for lists of clients, projects and tickets. Issues are reported under `/query/<name>`. Pure. */
import { type Query, queryReader, type Sorts } from '../../schema/query.ts'
import { CLIENT_SORTS, PROJECT_SORTS, TICKET_SORTS } from './sorts.ts'
import { ARCHIVED_FILTERS } from './store/clients.ts'

export const readClientList = listReader(CLIENT_SORTS, () => ({}))

export const readProjectList = listReader(PROJECT_SORTS, (query) => ({
  clients: query.list('client'),
  leads: query.list('lead'),
  approvers: query.list('approver'),
}))

export const readTicketList = listReader(TICKET_SORTS, (query) => ({
  projects: query.list('project'),
  conflicting: query.flag('conflicting'),
}))

function listReader<Filter, const Kinds extends Sorts>(sorts: Kinds, readFilter: (query: Query) => Filter) {
  return queryReader((query) => ({
    filter: {
      search: query.text('search'),
      archived: query.oneOf('archived', ARCHIVED_FILTERS),
      ...readFilter(query),
    },
    ...query.sortedListPage(sorts),
  }))
}
