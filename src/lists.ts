/** Pagination shared by all features. Pure. */

export interface Page<Row> {
  data: Row[]
  has_more: boolean
  next_page: string | null
}

/** A page of up to `limit` rows. `found` holds one extra row if there is another page. */
export function pageOf<Row>(found: readonly Row[], limit: number, pageBehind: (last: Row) => string): Page<Row> {
  const data = found.slice(0, limit)
  const hasMore = found.length > limit
  return { data, has_more: hasMore, next_page: hasMore ? pageBehind(data.at(-1)!) : null }
}

/** Rows that an export reads at a time: small enough to stay under 20 ms and to be forgotten again. */
const EXPORT_PAGE = 1_000

/** All rows, one bounded page at a time, so that memory stays constant; `read` returns the rows after a position. */
export async function* eachPage<Row, Position>(
  read: (page: { after: Position | undefined; limit: number }) => Promise<Row[]>,
  positionOf: (row: Row) => Position,
  limit = EXPORT_PAGE,
): AsyncGenerator<Row[]> {
  let after: Position | undefined
  for (;;) {
    const rows = await read({ after, limit })
    yield rows
    if (rows.length < limit) return
    after = positionOf(rows.at(-1)!)
  }
}
