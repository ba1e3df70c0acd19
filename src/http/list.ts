/** The answer to a request for a list: a page of it, or all of it as CSV. */

import type { CsvColumn } from '../lib/csv-column.ts'
import { eachPage, type Page, pageOf } from '../lists.ts'
import type { PageRequest } from '../query.ts'
import { csvResponse, wantsCsv } from './csv.ts'

interface Listing<Row, Body, Sort extends string> {
  list: (page: PageRequest<Sort>) => Promise<Row[]>
  keyOf: (row: Row) => number
  /** The token of the page that follows a row. */
  pageBehind: (row: Row, by: PageRequest<Sort>['by']) => string
  bodyOf: (row: Row) => Body
  columns: CsvColumn<Body>[]
  fileName: string
}

export async function answerList<Row, Body, Sort extends string>(
  request: Request,
  { after, limit, by, format }: PageRequest<Sort> & { format: string | undefined },
  { list, keyOf, pageBehind, bodyOf, columns, fileName }: Listing<Row, Body, Sort>,
): Promise<Page<Body> | Response> {
  async function* bodies() {
    for await (const rows of eachPage(list, keyOf)) yield* rows.map(bodyOf)
  }
  if (wantsCsv(request, format)) return csvResponse(bodies(), columns, fileName)
  const page = pageOf(await list({ after, by, limit: limit + 1 }), limit, (last) => pageBehind(last, by))
  return { ...page, data: page.data.map(bodyOf) }
}
