/** Query parameters of the audit log. Issues are reported under `/query/<name>`. Pure. */
import { type ListPage, Query, type QueryTexts } from '../../query.ts'
import type { AuditFilter } from './store.ts'

export interface AuditQuery extends ListPage {
  filter: AuditFilter
}

/** Dates are days of the time zone. Throws 422 with every issue. */
export function readAuditQuery(texts: QueryTexts, timeZone: string): AuditQuery {
  const query = new Query(texts)
  const read: AuditQuery = {
    filter: {
      objects: query.list('object'),
      users: query.list('user'),
      actions: query.list('action'),
      withoutActions: query.list('without_action'),
      startingAt: query.moment('starting_at', timeZone),
      endingAt: query.moment('ending_at', timeZone),
      search: query.text('search'),
    },
    ...query.listPage(),
  }
  query.finish()
  return read
}
