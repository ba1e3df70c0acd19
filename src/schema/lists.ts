/** Pagination shared by all features. Pure. */
import type { PageRequest } from './query.ts'

export interface Page<Row> {
  data: Row[]
  has_more: boolean
  next_page: string | null
}

/** What a list is made of. */
export interface Rows<Filter, Sort extends string, Row> {
  /** @param page one more than its `limit` if there are more */
  list(filter: Filter, page: PageRequest<Sort>): Promise<Row[]>
  keyOf(row: Row): number
  /** The token of the page that follows a row. */
  pageAfter(row: Row, by: PageRequest<Sort>['by']): string
  /** All of them in the order of exports; page by page, newest first, if absent. */
  all?(filter: Filter): Promise<Row[]>
}

/** A list that is not divided into pages, or its last page. */
export const lastPage = <Row>(data: Row[]): Page<Row> => ({ data, has_more: false, next_page: null })

/** A page of up to `limit` rows. `found` holds one extra row if there is another page. */
export function pageOf<Row>(found: readonly Row[], limit: number, pageAfter: (last: Row) => string): Page<Row> {
  const data = found.slice(0, limit)
  const hasMore = found.length > limit
  return { data, has_more: hasMore, next_page: hasMore ? pageAfter(data.at(-1)!) : null }
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

/** All rows of a list, some at a time. */
export async function* everyRow<Filter, Sort extends string, Row>(
  { list, all, keyOf }: Rows<Filter, Sort, Row>,
  filter: Filter,
): AsyncGenerator<Row[]> {
  if (all) yield await all(filter)
  else yield* eachPage((page) => list(filter, page), keyOf)
}
