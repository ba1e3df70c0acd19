/** The parameters of lists of sheets. Pure. */
import { SHEET_STATUSES } from '../../database/schema/values.ts'
import { queryReader, readSortPage } from '../../schema/query.ts'
import { SHEET_SORTS } from './sorts.ts'

export { SHEET_STATUSES }

/** Dates are days of the time zone. */
export const readSheetList = queryReader((query, timeZone: string) => ({
  filter: {
    statuses: query.someOf('status', SHEET_STATUSES),
    managers: query.list('agent_manager'),
    startingAt: query.moment('starting_at', timeZone),
    endingAt: query.moment('ending_at', timeZone),
    endingAfter: query.moment('ending_after', timeZone),
    endedBefore: query.moment('ended_before', timeZone),
  },
  ...query.sortedListPage(SHEET_SORTS),
}))
export type SheetListQuery = ReturnType<typeof readSheetList>

/** The period to list approvals for. */
export const readApprovalsQuery = queryReader((query, timeZone: string) => ({
  period: {
    startingAt: query.moment('starting_at', timeZone),
    endingAt: query.moment('ending_at', timeZone),
  },
  limit: query.limit({ usual: WAITING_SHOWN }),
  after: query.page((page) => readSortPage(LONGEST_WAITING, 'number', page)),
}))
export type ApprovalsQuery = ReturnType<typeof readApprovalsQuery>

/** Waiting sheets in a page; the sums include all. */
export const WAITING_SHOWN = 100

/** The order of waiting sheets. */
export const LONGEST_WAITING = { sort: 'submitted_at', order: 'asc' } as const
