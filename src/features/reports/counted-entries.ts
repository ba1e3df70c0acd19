/** The entries that reports count, as the filter that also lists them. Pure. */
import { STATUSES, type Status } from '../../database/schema/values.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'

/** Entries on sheets that are not approved are not usage yet, possible duplicates may never be, and voided ones are not. */
const UNCOUNTED: readonly Status[] = ['draft', 'pending', 'held', 'discarded', 'voided']

export const COUNTED_STATUSES = STATUSES.filter((status) => !UNCOUNTED.includes(status))

/** The filter, without the entries that reports exclude by default. */
export function counted(filter: EntryFilter): EntryFilter {
  return { ...filter, status: filter.status ?? COUNTED_STATUSES, superseded: filter.superseded ?? false }
}
