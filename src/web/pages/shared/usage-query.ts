/** The query of the usage that is shared with a viewer, and the address of its page. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { one, oneOf, readAddress } from '../../address.ts'
import { asBounds, type Period, readPeriod } from '../../parts/period.ts'
import { answer, type api, apiUntil, type Body } from '../../server/api.ts'
import type { Me } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'

export const DIMENSIONS = ['project', 'client', 'ticket', 'model', 'agent_manager'] as const
export type Dimension = (typeof DIMENSIONS)[number]

export const WIDTHS = ['all', '1mo', '1w', '1d'] as const
export type Width = (typeof WIDTHS)[number]

export const USAGE_ADDRESS = { period: one, by: oneOf(...DIMENSIONS), bucket: oneOf(...WIDTHS) }

type UsageCall = typeof api.shared.usage.get
export type SharedUsage = Body<Awaited<ReturnType<UsageCall>>>
export type Result = SharedUsage['data'][number]['results'][number]

export const usageParameters = (period: Period, by: Dimension, bucket: Width) => ({
  ...asBounds(period),
  bucket_width: bucket,
  group_by: [by],
})

export const usageQuery = (period: Period, by: Dimension, bucket: Width) =>
  queryOptions({
    queryKey: ['reports', 'shared', asBounds(period), by, bucket],
    queryFn: ({ signal }) =>
      answer(apiUntil(signal).shared.usage.get({ query: usageParameters(period, by, bucket) })) as Promise<SharedUsage>,
    placeholderData: keepPreviousData,
  })

/** Sent before the page is rendered. */
export function askSharedUsage({ settings, shared }: Me, search: string): void {
  if (!shared || shared.grants.length === 0) return
  const { period, by, bucket } = readAddress(search, USAGE_ADDRESS)
  void queryClient.prefetchQuery(usageQuery(readPeriod(period, settings.time_zone), by, bucket))
}
