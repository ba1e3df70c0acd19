/** The overview's queries, each answered from stored totals. */
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { Width } from '../../parts/charts/buckets.ts'
import type { Result, Usage } from '../../parts/usage/usage.ts'
import { answer, type api, apiUntil } from '../../server/api.ts'
import { boundsOf, type Scope } from './scope.ts'

export const DIMENSIONS = ['project', 'client', 'agent_manager', 'agent_harness', 'model', 'provider'] as const
export type Dimension = (typeof DIMENSIONS)[number]

type Query = NonNullable<Parameters<typeof api.reports.usage.get>[0]>['query']

const ask = (query: Query, signal: AbortSignal) => answer(apiUntil(signal).reports.usage.get({ query }))

/** The beginning of the keys of a scope's queries. */
export const asked = (scope: Scope) => ['reports', 'overview', boundsOf(scope)] as const

/** Total usage over time, with the totals of the scope. */
export const trendQuery = (scope: Scope, width: Width) =>
  queryOptions({
    queryKey: [...asked(scope), 'course', width],
    queryFn: ({ signal }) => ask({ ...boundsOf(scope), bucket_width: width, fill_gaps: 'true' }, signal),
    placeholderData: keepPreviousData,
  })

export const useTrend = (scope: Scope, width: Width) => useQuery(trendQuery(scope, width))

/** All groups of a dimension over the whole period, most expensive first, in one bucket, and their totals. */
export const reportQuery = (scope: Scope, dimension: Dimension) =>
  queryOptions<Usage>({
    queryKey: [...asked(scope), 'groups', dimension],
    queryFn: ({ signal }) => ask({ ...boundsOf(scope), bucket_width: 'all', group_by: [dimension] }, signal),
    // Groups of another dimension would be shown, and linked, as groups without a value of this one.
    placeholderData: (before) => (before?.group_by[0] === dimension ? before : undefined),
  })

/** The totals of the report of all groups; of the scope before until they are here, whatever they are grouped by. */
export const useTotals = (scope: Scope, dimension: Dimension) =>
  useQuery({ ...reportQuery(scope, dimension), placeholderData: keepPreviousData, select: ({ totals }) => totals })

export const groupsOf = (report: Usage): Result[] => report.data[0]?.results ?? []

export function useGroups(scope: Scope, dimension: Dimension) {
  const { data, isPlaceholderData } = useQuery(reportQuery(scope, dimension))
  return { data: data && groupsOf(data), isPlaceholderData }
}

/** Usage over time of some groups; a year of all groups could be megabytes. */
export const askGroupsTrend = (
  scope: Scope,
  { dimension, values, width }: { dimension: Dimension; values: string[]; width: Width },
  signal: AbortSignal,
) => ask({ ...boundsOf(scope), bucket_width: width, group_by: [dimension], [dimension]: values }, signal)

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
