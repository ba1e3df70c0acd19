/** The entries that reports count, as the filter that also lists them. Pure. */
import { STATUSES } from '../../database/schema/values.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'

/** Without drafts and entries on submitted sheets, which are not usage yet. */
export const COUNTED_STATUSES = STATUSES.filter((status) => status !== 'draft' && status !== 'pending')

/** The filter, without the entries that reports exclude by default: drafts, submitted sheets, superseded entries. */
export function counted(filter: EntryFilter): EntryFilter {
  return { ...filter, status: filter.status ?? COUNTED_STATUSES, superseded: filter.superseded ?? false }
}
