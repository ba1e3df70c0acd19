/** The entries that reports count, as the filter that also lists them. Pure. */

import { COUNTED_STATUSES } from '../../shared/entry-filters.ts'
import type { EntryFilter } from '../selection/contract.ts'

export { COUNTED_STATUSES }

/** The filter, without the entries that reports exclude by default. */
export function counted(filter: EntryFilter): EntryFilter {
  return { ...filter, status: filter.status ?? COUNTED_STATUSES, superseded: filter.superseded ?? false }
}
