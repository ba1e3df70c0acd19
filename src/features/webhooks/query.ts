/** Parameters of lists of webhooks. Pure. */
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
