/** Parameters of lists of share links. Pure. */
import { type ListPage, Query, type QueryTexts } from '../../schema/query.ts'

/** Throws 422 with every issue. */
export function readShareLinkList(texts: QueryTexts): ListPage {
  const query = new Query(texts)
  const read = query.listPage()
  query.finish()
  return read
}
