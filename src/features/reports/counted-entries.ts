/** The entries that reports count, as the filter that also lists them. Pure. */
import { STATUSES, UNCOUNTED_STATUSES } from '../../database/schema/values.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'

export const COUNTED_STATUSES = STATUSES.filter((status) => !UNCOUNTED_STATUSES.includes(status))

/** The filter, without the entries that reports exclude by default. */
export function counted(filter: EntryFilter): EntryFilter {
  return { ...filter, status: filter.status ?? COUNTED_STATUSES, superseded: filter.superseded ?? false }
}
