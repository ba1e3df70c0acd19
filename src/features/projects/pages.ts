/** Lists of work as pages and as exports. */
import { writeKeyPage } from '../../query.ts'
import type { Page } from './store/clients.ts'

/** Rows that an export reads at a time: small enough to stay under 20 ms and to be forgotten again. */
const EXPORT_PAGE = 500

/** Asks for one row more than the page has, which says whether there is another page. */
export async function pageOf<Row, Body>(
  list: (page: Page) => Promise<Row[]>,
  { after, limit }: Page,
  { bodyOf, keyOf }: { bodyOf: (row: Row) => Body; keyOf: (row: Row) => number },
): Promise<{ data: Body[]; has_more: boolean; next_page: string | null }> {
  const rows = await list({ after, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const hasMore = rows.length > limit
  return {
    data: shown.map(bodyOf),
    has_more: hasMore,
    next_page: hasMore ? writeKeyPage(keyOf(shown.at(-1)!)) : null,
  }
}

/** Every row, read page by page so that memory stays constant. */
export async function* everyOne<Row, Body>(
  list: (page: Page) => Promise<Row[]>,
  { bodyOf, keyOf }: { bodyOf: (row: Row) => Body; keyOf: (row: Row) => number },
): AsyncGenerator<Body> {
  let after: number | undefined
  for (;;) {
    const rows = await list({ after, limit: EXPORT_PAGE })
    yield* rows.map(bodyOf)
    if (rows.length < EXPORT_PAGE) return
    after = keyOf(rows.at(-1)!)
  }
}
