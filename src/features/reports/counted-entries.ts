/** Which entries reports count, as the filter that also lists them. Pure. */
import { STATUSES } from '../../database/schema/values.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'

/** Not drafts, nor what waits on a submitted sheet: it is no use yet. */
export const COUNTED_STATUSES = STATUSES.filter((status) => status !== 'draft' && status !== 'pending')

/** The filter, less what reports leave out unless it is asked for: drafts, sheets in waiting, superseded entries. */
export function counted(filter: EntryFilter): EntryFilter {
  return { ...filter, status: filter.status ?? COUNTED_STATUSES, superseded: filter.superseded ?? false }
}
