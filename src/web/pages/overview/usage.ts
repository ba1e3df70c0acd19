/** The overview's queries, each answered from stored totals. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Width } from '../../parts/charts/buckets.ts'
import type { Dimension } from '../../parts/usage/dimensions.ts'
import { type Result, type Usage, type UsageQuestion, usageQuery } from '../../parts/usage/usage.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { parametersOf, type Scope } from './scope.ts'

export const questionOf = (
  { period, filter }: Scope,
  { width, by = [], ...more }: Pick<UsageQuestion, 'width' | 'fillsGaps'> & { by?: readonly Dimension[] },
): UsageQuestion => ({ period, filter: parametersOf(filter), width, by, include: [], ...more })

/** Total usage over time, with the totals of the scope. */
export const trendQuery = (scope: Scope, width: Width) => usageQuery(questionOf(scope, { width, fillsGaps: true }))

export const useTrend = (scope: Scope, width: Width) => useQuery(trendQuery(scope, width))

/** All groups of a dimension over the whole period, most expensive first, in one bucket, and their totals. */
export const reportQuery = (scope: Scope, dimension: Dimension) =>
  usageQuery(questionOf(scope, { width: 'all', by: [dimension] }))

/** The totals of the report of all groups; of the scope before until they are here, whatever they are grouped by. */
export const useTotals = (scope: Scope, dimension: Dimension) =>
  useQuery({ ...reportQuery(scope, dimension), placeholderData: keepPreviousData, select: ({ totals }) => totals })

export const groupsOf = (report: Usage): Result[] => report.data[0]?.results ?? []

export function useGroups(scope: Scope, dimension: Dimension, enabled = true) {
  const { data, isPlaceholderData } = useQuery({ ...reportQuery(scope, dimension), enabled })
  return { data: data && groupsOf(data), isPlaceholderData }
}

/** Whether there are any entries at all, requested only if the period has none. */
export const useHasEntries = (enabled: boolean) =>
  useQuery({
    queryKey: ['entries', 'any'],
    queryFn: async ({ signal }) =>
      (await answer(apiUntil(signal)['token-entries'].get({ query: { limit: '1' } }))).data.length > 0,
    enabled,
  })
