import type { Viewer } from '../../access/visibility.ts'
import type { ListQuery } from '../../features/entries/contract.ts'
import type { EntriesService } from '../../features/entries/service.ts'
import { readPage } from '../../features/selection/contract.ts'
import { minute } from '../terminal/print.ts'

type Listing = EntriesService['listing']

/**
 * A page that is as long as requested: a search that ended early is continued, and on a terminal its progress is shown. A
 * list by a figure is not continued, as its earlier entries have an order of their own.
 */
export async function searchToLimit(
  listing: Listing,
  viewer: Viewer,
  query: ListQuery,
): ReturnType<Listing['listEntries']> {
  const terminal = process.stderr.isTTY ? process.stderr : undefined
  const first = await listing.listEntries(viewer, query)
  const data = [...first.data]
  let page = first
  while (!query.byFigure && page.searched_to !== null && data.length < query.limit) {
    const direction = query.order === 'asc' ? 'up' : 'back'
    terminal?.write(`\r\x1b[KSearched ${direction} to ${minute(page.searched_to)} UTC`)
    const after = readPage(page.next_page!, query.order)
    page = await listing.listEntries(viewer, { ...query, after, limit: query.limit - data.length })
    data.push(...page.data)
  }
  if (page !== first) terminal?.write('\r\x1b[K')
  return { ...page, data }
}
