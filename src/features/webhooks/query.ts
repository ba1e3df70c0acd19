/** Parameters of lists of webhooks and of deliveries. Pure. */
import { type ListPage, Query, type QueryTexts } from '../../schema/query.ts'

export interface WebhookListQuery extends ListPage {
  isFailing: boolean | undefined
}

/** Throws 422 with every issue. */
export function readWebhookList(texts: QueryTexts): WebhookListQuery {
  const query = new Query(texts)
  const read = { isFailing: query.flag('failing'), ...query.listPage() }
  query.finish()
  return read
}

/** Throws 422 with every issue. */
export function readPage(texts: QueryTexts): ListPage {
  const query = new Query(texts)
  const read = query.listPage()
  query.finish()
  return read
}
