/** The requests of a report. */
import { queryOptions } from '@tanstack/react-query'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { answer, type api, apiUntil, type Body } from '../../server/api.ts'
import type { Width } from '../charts/buckets.ts'
import type { EntryQuery } from '../entries/filters.ts'
import { asBounds, type Period } from '../period.ts'

type UsageCall = typeof api.reports.usage.get
export type Usage = Body<Awaited<ReturnType<UsageCall>>>
export type Totals = Usage['totals']
export type Result = Usage['data'][number]['results'][number]
/** Of a group or of everything. */
export type Figures = Pick<
  Result,
  | 'entries'
  | 'tokens'
  | 'cost'
  | 'list_value'
  | 'billed'
  | 'people'
  | 'sessions'
  | 'duration'
  | 'active_seconds'
  | 'untimed_entries'
>

export interface UsageQuestion {
  period: Period
  /** Without a period. */
  filter: EntryQuery
  width: Width | 'all'
  by: readonly string[]
  include: readonly string[]
  /** `cost` where absent. */
  basis?: CostBasis | undefined
  /** Whether buckets without entries are returned too, without which a chart over time has no gaps. */
  fillsGaps?: boolean
}

/** The parameters of the API, also for its CSV. */
export const usageParameters = ({ period, filter, width, by, include, basis, fillsGaps }: UsageQuestion) => ({
  ...filter,
  ...asBounds(period),
  bucket_width: width,
  ...(by.length > 0 && { group_by: [...by] }),
  ...(include.length > 0 && { include: [...include] }),
  ...(basis !== undefined && basis !== 'cost' && { basis }),
  ...(fillsGaps && { fill_gaps: 'true' }),
})

/** What decides which groups and figures a report has. */
const shapeOf = (query?: ReturnType<typeof usageParameters>) =>
  JSON.stringify([query?.group_by, query?.include, query?.basis])

/** All buckets, page by page. */
async function askUsage(question: UsageQuestion, signal: AbortSignal): Promise<Usage> {
  const query = usageParameters(question)
  const ask = (page?: string) =>
    answer(apiUntil(signal).reports.usage.get({ query: { ...query, ...(page !== undefined && { page }) } }))
  const report = await ask()
  const data = [...report.data]
  for (let next = report.next_page; next !== null; ) {
    const more = await ask(next)
    data.push(...more.data)
    next = more.next_page
  }
  return { ...report, data }
}

export const usageQuery = (question: UsageQuestion) => {
  const query = usageParameters(question)
  return queryOptions({
    queryKey: ['reports', 'usage', query],
    queryFn: ({ signal }) => askUsage(question, signal),
    // Groups of another dimension have other links, and figures that were not asked for, or on another basis, are unknown.
    placeholderData: <Data>(before: Data | undefined, previous?: { queryKey: readonly unknown[] }) =>
      shapeOf(previous?.queryKey[2] as typeof query) === shapeOf(query) ? before : undefined,
  })
}
