/** The overview's queries, each answered from stored totals. */
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { Width } from '../../parts/charts/buckets.ts'
import { asBounds, type Period, periodBefore } from '../../parts/period.ts'
import { answer, type api, apiUntil, type Body } from '../../server/api.ts'

export const DIMENSIONS = ['project', 'client', 'agent_manager', 'agent_harness', 'model', 'provider'] as const
export type Dimension = (typeof DIMENSIONS)[number]

type UsageCall = typeof api.reports.usage.get
export type Usage = Body<Awaited<ReturnType<UsageCall>>>
export type Totals = Usage['totals']
export type Result = Usage['data'][number]['results'][number]
type Query = NonNullable<Parameters<UsageCall>[0]>['query']

const ask = (query: Query, signal: AbortSignal) => answer(apiUntil(signal).reports.usage.get({ query }))

/** The beginning of the keys of a period's queries. */
export const asked = (period: Period) => ['reports', 'overview', asBounds(period)] as const

/** Total usage over time, with the totals of the period. */
export const trendQuery = (period: Period, width: Width) =>
  queryOptions({
    queryKey: [...asked(period), 'course', width],
    queryFn: ({ signal }) => ask({ ...asBounds(period), bucket_width: width, fill_gaps: 'true' }, signal),
    placeholderData: keepPreviousData,
  })

export const useTrend = (period: Period, width: Width) => useQuery(trendQuery(period, width))

export const totalsBeforeQuery = (period: Period) => {
  const before = periodBefore(period)
  return queryOptions({
    queryKey: [...asked(before), 'totals'],
    queryFn: async ({ signal }) => (await ask({ ...asBounds(before), bucket_width: 'all' }, signal)).totals,
    placeholderData: keepPreviousData,
  })
}

/** All groups of a dimension over the whole period, most expensive first, in one bucket, and their totals. */
export const reportQuery = (period: Period, dimension: Dimension) =>
  queryOptions<Usage>({
    queryKey: [...asked(period), 'groups', dimension],
    queryFn: ({ signal }) => ask({ ...asBounds(period), bucket_width: 'all', group_by: [dimension] }, signal),
    // Groups of another dimension would be shown, and linked, as groups without a value of this one.
    placeholderData: (before) => (before?.group_by[0] === dimension ? before : undefined),
  })

export const groupsOf = (report: Usage): Result[] => report.data[0]?.results ?? []

export function useGroups(period: Period, dimension: Dimension) {
  const { data, isPlaceholderData } = useQuery(reportQuery(period, dimension))
  return { data: data && groupsOf(data), isPlaceholderData }
}

/** Usage over time of some groups; a year of all groups could be megabytes. */
export const askGroupsTrend = (
  period: Period,
  { dimension, values, width }: { dimension: Dimension; values: string[]; width: Width },
  signal: AbortSignal,
) => ask({ ...asBounds(period), bucket_width: width, group_by: [dimension], [dimension]: values }, signal)

export const completenessQuery = (period: Period) =>
  queryOptions({
    queryKey: [...asked(period), 'completeness'],
    queryFn: async ({ signal }) =>
      (await answer(apiUntil(signal).reports.completeness.get({ query: asBounds(period) }))).data,
    placeholderData: keepPreviousData,
  })

export const useCompleteness = (period: Period) => useQuery(completenessQuery(period))

export type Check = NonNullable<ReturnType<typeof useCompleteness>['data']>[number]

/** The highest count of conflicting tickets. */
const TICKETS_COUNTED = 50

/** The number of tickets that were reported under different projects, at any time. For billing and admins. */
export const ticketsToDecideQuery = queryOptions({
  queryKey: ['tickets', 'to decide'],
  queryFn: async ({ signal }) => {
    const query = { conflicting: 'true', limit: String(TICKETS_COUNTED) }
    const { data, has_more } = await answer(apiUntil(signal).tickets.get({ query }))
    return { tickets: data.length, hasMore: has_more }
  },
})

export const useTicketsToDecide = (isAsked: boolean) => useQuery({ ...ticketsToDecideQuery, enabled: isAsked })

/** Whether there are any entries at all, requested only if the period has none. */
export const useHasEntries = (isAsked: boolean) =>
  useQuery({
    queryKey: ['entries', 'any'],
    queryFn: async ({ signal }) =>
      (await answer(apiUntil(signal)['token-entries'].get({ query: { limit: '1' } }))).data.length > 0,
    enabled: isAsked,
  })
