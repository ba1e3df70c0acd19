/** The parameters of lists of sheets. Pure. */
import { SHEET_STATUSES } from '../../database/schema/values.ts'
import { Query, type QueryTexts, type SortedListPage } from '../../schema/query.ts'
import { SHEET_SORTS } from './sorts.ts'
import type { SheetFilter } from './store.ts'

export { SHEET_STATUSES }

export interface SheetListQuery extends SortedListPage<keyof typeof SHEET_SORTS> {
  filter: SheetFilter
}

/** Dates are days of the time zone. Throws 422 with every issue. */
export function readSheetList(texts: QueryTexts, timeZone: string): SheetListQuery {
  const query = new Query(texts)
  const read: SheetListQuery = {
    filter: {
      statuses: query.someOf('status', SHEET_STATUSES),
      managers: query.list('agent_manager'),
      startingAt: query.moment('starting_at', timeZone),
      endingAt: query.moment('ending_at', timeZone),
      endingAfter: query.moment('ending_after', timeZone),
      endedBefore: query.moment('ended_before', timeZone),
    },
    ...query.sortedListPage(SHEET_SORTS),
  }
  query.finish()
  return read
}

/** The period to list approvals for. Throws 422 with every issue. */
export function readApprovalsQuery(texts: QueryTexts, timeZone: string): Pick<SheetFilter, 'startingAt' | 'endingAt'> {
  const query = new Query(texts)
  const read = { startingAt: query.moment('starting_at', timeZone), endingAt: query.moment('ending_at', timeZone) }
  query.finish()
  return read
}
