/** The queries of the usage that is shared with a viewer, and the address of its page. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { one, oneOf, readAddress } from '../../address.ts'
import { type Width as ChartWidth, widthFor } from '../../parts/charts/buckets.ts'
import { asBounds, type Period, readPeriod } from '../../parts/period.ts'
import { answer, type api, apiUntil, type Body } from '../../server/api.ts'
import type { Me } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'

export const DIMENSIONS = ['project', 'client', 'ticket', 'model', 'agent_manager'] as const
export type Dimension = (typeof DIMENSIONS)[number]

export const WIDTHS = ['all', '1mo', '1w', '1d'] as const
export type Width = (typeof WIDTHS)[number]

/** Billed entries, or those that are not. */
const BILLED = ['', 'true', 'false'] as const
export type Billed = (typeof BILLED)[number]

export const USAGE_ADDRESS = {
  period: one,
  by: oneOf(...DIMENSIONS),
  bucket: oneOf(...WIDTHS),
  billed: oneOf(...BILLED),
}

type UsageCall = typeof api.shared.usage.get
export type SharedUsage = Body<Awaited<ReturnType<UsageCall>>>
export type Result = SharedUsage['data'][number]['results'][number]

interface Question {
  period: Period
  /** Undefined for the totals alone. */
  by?: Dimension
  bucket: Width | ChartWidth
  billed: Billed
  fillsGaps?: boolean
}

export const usageParameters = ({ period, by, bucket, billed, fillsGaps }: Question) => ({
  ...asBounds(period),
  bucket_width: bucket,
  ...(by && { group_by: [by] }),
  ...(billed && { billed }),
  ...(fillsGaps && { fill_gaps: 'true' }),
})

export const usageQuery = (question: Question) =>
  queryOptions({
    queryKey: ['reports', 'shared', usageParameters(question)],
    queryFn: ({ signal }) =>
      answer(apiUntil(signal).shared.usage.get({ query: usageParameters(question) })) as Promise<SharedUsage>,
    placeholderData: keepPreviousData,
  })

/** What the chart is made of. */
export const trendQuestion = ({ period, by, billed }: Pick<Question, 'period' | 'by' | 'billed'>): Question => ({
  ...{ period, billed, bucket: widthFor(period), fillsGaps: true },
  ...(by && { by }),
})

/** Sent before the page is rendered. */
export function askSharedUsage({ settings, shared }: Me, search: string): void {
  if (!shared || shared.grants.length === 0) return
  const { period: name, ...address } = readAddress(search, USAGE_ADDRESS)
  const period = readPeriod(name, settings.time_zone)
  void queryClient.prefetchQuery(usageQuery({ ...address, period }))
  void queryClient.prefetchQuery(usageQuery(trendQuestion({ ...address, period })))
}
