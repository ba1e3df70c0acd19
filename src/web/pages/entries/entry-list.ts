/** The list of entries that the address of the page asks for. */

import type { CostBasis } from '../../../shared/cost-basis.ts'
import { one, oneOf, readAddress } from '../../address.ts'
import { askEntries, type EntryOrder } from '../../parts/entries/entry.ts'
import { entryQuery, FILTERS, type Filters } from '../../parts/entries/filters.ts'
import { basisFor, readBasis } from '../../server/cost-basis.ts'
import { listQuery } from '../../server/list.ts'
import type { Me } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'
import { SORTS } from './entry-order.ts'
import { listTotalsQuery, uncountedQuery } from './entry-sums.ts'

export const ENTRIES_ADDRESS = {
  ...FILTERS,
  open: one,
  sort: oneOf(...SORTS),
  order: oneOf('desc', 'asc'),
  basis: readBasis,
}

interface Ordered {
  sort: (typeof SORTS)[number]
  order: 'desc' | 'asc'
  basis: CostBasis
}

export function entryListOf(filters: Filters, { sort, order, basis }: Ordered, timeZone: string) {
  const query = entryQuery(filters, timeZone)
  const ordered: EntryOrder = {
    ...(sort !== SORTS[0] && { sort }),
    ...(order === 'asc' && { order }),
    ...(basis !== 'cost' && { basis }),
  }
  const ask = (page: string | undefined, signal: AbortSignal) => askEntries({ ...query, ...ordered }, page, signal)
  return { query, ordered, key: ['entries', 'list', query, ordered] as const, ask }
}

/** Sends the list's request before the page is rendered. */
export function askEntryList(me: Me, search: string): void {
  const { open: _, sort, order, basis: chosen, ...filters } = readAddress(search, ENTRIES_ADDRESS)
  const basis = basisFor(me, chosen)
  const { query, key, ask } = entryListOf(filters, { sort, order, basis }, me.settings.time_zone)
  void queryClient.prefetchInfiniteQuery(listQuery(key, ask))
  // Totals of a text search read every entry: they are calculated on request.
  if (query.q !== undefined) return
  void queryClient.prefetchQuery(listTotalsQuery(query, basis))
  if (query.status === undefined) void queryClient.prefetchQuery(uncountedQuery(query))
}
