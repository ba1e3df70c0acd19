/** Lists of work as pages and as exports of bodies. */
import { eachPage, type Page, pageOf } from '../../lists.ts'
import { writeKeyPage } from '../../query.ts'
import type { Page as Asked } from './store/clients.ts'

interface Listed<Row, Body> {
  bodyOf: (row: Row) => Body
  keyOf: (row: Row) => number
}

type Lists<Row> = (page: Asked) => Promise<Row[]>

export async function pageOfBodies<Row, Body>(
  list: Lists<Row>,
  { after, limit }: Asked,
  { bodyOf, keyOf }: Listed<Row, Body>,
): Promise<Page<Body>> {
  const page = pageOf(await list({ after, limit: limit + 1 }), limit, (last) => writeKeyPage(keyOf(last)))
  return { ...page, data: page.data.map(bodyOf) }
}

export async function* everyBody<Row, Body>(
  list: Lists<Row>,
  { bodyOf, keyOf }: Listed<Row, Body>,
): AsyncGenerator<Body> {
  for await (const rows of eachPage(list, keyOf)) yield* rows.map(bodyOf)
}
