/** Parameters of lists of webhooks and of deliveries. Pure. */
import { type ListPage, Query, type QueryTexts } from '../../query.ts'

/** Throws 422 with every issue. */
export function readPage(texts: QueryTexts): ListPage {
  const query = new Query(texts)
  const read = query.listPage()
  query.finish()
  return read
}
