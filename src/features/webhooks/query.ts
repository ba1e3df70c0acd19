/** Parameters of lists of webhooks. Pure. */
import { queryReader } from '../../schema/query.ts'

export const readWebhookList = queryReader((query) => ({ isFailing: query.flag('failing'), ...query.listPage() }))
export type WebhookListQuery = ReturnType<typeof readWebhookList>
