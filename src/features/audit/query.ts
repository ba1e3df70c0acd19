/** Query parameters of the audit log. Issues are reported under `/query/<name>`. Pure. */
import { LIST_FORMATS, type ListPage, queryReader, readKeyPage } from '../../schema/query.ts'
import type { AuditFilter } from './store.ts'

export const AUDIT_FORMATS = [...LIST_FORMATS, 'ndjson'] as const

export interface AuditQuery extends Omit<ListPage, 'format'> {
  filter: AuditFilter
  format: (typeof AUDIT_FORMATS)[number] | undefined
}

/** Dates are days of the time zone. */
export const readAuditQuery = queryReader(
  (query, timeZone: string): AuditQuery => ({
    filter: {
      objects: query.list('object'),
      users: query.list('user'),
      actions: query.list('action'),
      withoutActions: query.list('without_action'),
      startingAt: query.moment('starting_at', timeZone),
      endingAt: query.moment('ending_at', timeZone),
      search: query.text('search'),
    },
    limit: query.limit(),
    after: query.page(readKeyPage),
    format: query.oneOf('format', AUDIT_FORMATS),
  }),
)
