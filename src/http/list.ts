/** The answer to a request for a list: a page of it, or all of it as CSV. */

import type { CsvColumn } from '../lib/csv-column.ts'
import { eachPage, type Page, pageOf } from '../lists.ts'
import { writeKeyPage } from '../query.ts'
import { csvResponse, wantsCsv } from './csv.ts'

interface PageRequest {
  after: number | undefined
  limit: number
}

interface Listing<Row, Body> {
  list: (page: PageRequest) => Promise<Row[]>
  keyOf: (row: Row) => number
  bodyOf: (row: Row) => Body
  columns: CsvColumn<Body>[]
  fileName: string
}

export async function answerList<Row, Body>(
  request: Request,
  { after, limit, format }: PageRequest & { format: string | undefined },
  { list, keyOf, bodyOf, columns, fileName }: Listing<Row, Body>,
): Promise<Page<Body> | Response> {
  async function* bodies() {
    for await (const rows of eachPage(list, keyOf)) yield* rows.map(bodyOf)
  }
  if (wantsCsv(request, format)) return csvResponse(bodies(), columns, fileName)
  const page = pageOf(await list({ after, limit: limit + 1 }), limit, (last) => writeKeyPage(keyOf(last)))
  return { ...page, data: page.data.map(bodyOf) }
}
