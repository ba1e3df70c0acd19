/** The answer to a request for a list: a page of it, or all of it as CSV. */

import type { CsvColumn } from '../lib/csv-column.ts'
import { everyRow, type Page, pageOf, type Rows } from '../schema/lists.ts'
import type { PageRequest } from '../schema/query.ts'
import { csvResponse, wantsCsv } from './csv.ts'

interface Listing<Filter, Row, Body, Sort extends string> {
  filter: Filter
  rows: Rows<Filter, Sort, Row>
  bodyOf: (row: Row) => Body
  columns: CsvColumn<Body>[]
  fileName: string
}

export async function answerList<Filter, Row, Body, Sort extends string>(
  request: Request,
  { after, limit, by, format }: PageRequest<Sort> & { format: string | undefined },
  { filter, rows, bodyOf, columns, fileName }: Listing<Filter, Row, Body, Sort>,
): Promise<Page<Body> | Response> {
  async function* bodies() {
    for await (const some of everyRow(rows, filter)) yield* some.map(bodyOf)
  }
  if (wantsCsv(request, format)) return csvResponse(bodies(), columns, fileName)
  const found = await rows.list(filter, { after, by, limit: limit + 1 })
  const page = pageOf(found, limit, (last) => rows.pageAfter(last, by))
  return { ...page, data: page.data.map(bodyOf) }
}
