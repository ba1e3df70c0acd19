/** Query parameters for lists of clients, projects and tickets. Issues are reported under `/query/<name>`. Pure. */
import { Query, type QueryTexts, type SortedListPage, type Sorts } from '../../schema/query.ts'
import { CLIENT_SORTS, PROJECT_SORTS, TICKET_SORTS } from './sorts.ts'
import { ARCHIVED_FILTERS, type ClientFilter } from './store/clients.ts'
import type { ProjectFilter } from './store/projects.ts'
import type { TicketFilter } from './store/tickets.ts'

export interface WorkQuery<Filter, Kinds extends Sorts> extends SortedListPage<keyof Kinds & string> {
  filter: Filter
}

/** Throws 422 with every issue. */
export function readClientList(texts: QueryTexts): WorkQuery<ClientFilter, typeof CLIENT_SORTS> {
  return readList(texts, CLIENT_SORTS, () => ({}))
}

/** Throws 422 with every issue. */
export function readProjectList(texts: QueryTexts): WorkQuery<ProjectFilter, typeof PROJECT_SORTS> {
  return readList(texts, PROJECT_SORTS, (query) => ({
    clients: query.list('client'),
    leads: query.list('lead'),
    approvers: query.list('approver'),
  }))
}

/** Throws 422 with every issue. */
export function readTicketList(texts: QueryTexts): WorkQuery<TicketFilter, typeof TICKET_SORTS> {
  return readList(texts, TICKET_SORTS, (query) => ({
    projects: query.list('project'),
    conflicting: query.flag('conflicting'),
  }))
}

function readList<Filter, const Kinds extends Sorts>(
  texts: QueryTexts,
  sorts: Kinds,
  readFilter: (query: Query) => Filter,
) {
  const query = new Query(texts)
  const read = {
    filter: {
      search: query.text('search'),
      archived: query.oneOf('archived', ARCHIVED_FILTERS),
      ...readFilter(query),
    },
    ...query.sortedListPage(sorts),
  }
  query.finish()
  return read
}
