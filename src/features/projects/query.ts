/** Query parameters for lists of clients, projects and tickets. Issues are reported under `/query/<name>`. Pure. */
import { type ListPage, Query, type QueryTexts } from '../../query.ts'
import { ARCHIVED_FILTERS, type ClientFilter } from './store/clients.ts'
import type { ProjectFilter } from './store/projects.ts'
import type { TicketFilter } from './store/tickets.ts'

export interface WorkQuery<Filter> extends ListPage {
  filter: Filter
}

/** Throws 422 with every issue. */
export function readClientList(texts: QueryTexts): WorkQuery<ClientFilter> {
  return readList(texts, () => ({}))
}

/** Throws 422 with every issue. */
export function readProjectList(texts: QueryTexts): WorkQuery<ProjectFilter> {
  return readList(texts, (query) => ({
    clients: query.list('client'),
    leads: query.list('lead'),
    approvers: query.list('approver'),
  }))
}

/** Throws 422 with every issue. */
export function readTicketList(texts: QueryTexts): WorkQuery<TicketFilter> {
  return readList(texts, (query) => ({ projects: query.list('project'), conflicting: query.flag('conflicting') }))
}

function readList<Filter>(texts: QueryTexts, readFilter: (query: Query) => Filter) {
  const query = new Query(texts)
  const read = {
    filter: {
      search: query.text('search'),
      archived: query.oneOf('archived', ARCHIVED_FILTERS),
      ...readFilter(query),
    },
    ...query.listPage(),
  }
  query.finish()
  return read
}
