/** The overview's queries, each answered from stored totals. */
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { Width } from '../../parts/charts/buckets.ts'
import type { Dimension } from '../../parts/usage/dimensions.ts'
import { type Result, type Usage, type UsageQuestion, usageQuery } from '../../parts/usage/usage.ts'
import { answer, type api, apiUntil, type Body } from '../../server/api.ts'
import type { Measure } from './groups.ts'
import { overviewParameters } from './overview-request.ts'
import { parametersOf, type Scope, scopeBefore } from './scope.ts'

export type Overview = Body<Awaited<ReturnType<typeof api.reports.overview.get>>>

/** What the person chose to see of a scope. */
export interface Chosen {
  dimension: 'project' | 'model' | 'agent_manager'
  measure: Measure
  width: Width
}

/** What most parts of the page show. */
export interface Shown {
  scope: Scope
  /** Undefined until it is here. */
  data: Overview | undefined
  /** Whether the data is of another scope, until that of this one is here. */
  isStale: boolean
  chosen: Chosen
}

/** All that is in sight when the page opens. */
export const overviewQuery = (scope: Scope, { dimension, width }: Omit<Chosen, 'measure'>) => {
  const { period, filter, basis } = scope
  const previous = scopeBefore(scope).period
  const query = overviewParameters({ period, previous, filter: parametersOf(filter), width, dimension, basis })
  return queryOptions({
    queryKey: ['reports', 'overview', query],
    queryFn: async ({ signal }): Promise<Overview> => answer(apiUntil(signal).reports.overview.get({ query })),
    placeholderData: keepPreviousData,
  })
}

const questionOf = (
  { period, filter, basis }: Scope,
  { width, by = [], ...more }: Pick<UsageQuestion, 'width' | 'fillsGaps'> & { by?: readonly Dimension[] },
): UsageQuestion => ({ period, filter: parametersOf(filter), width, by, include: [], basis, ...more })

/** Total usage over time. */
export const trendQuery = (scope: Scope, width: Width) => usageQuery(questionOf(scope, { width, fillsGaps: true }))

const groupsOf = (report: Usage): Result[] => report.data[0]?.results ?? []

/** The groups of a report without buckets; undefined if it is grouped by another dimension, while the one of this is read. */
export const groupsIn = (report: Usage | undefined, dimension: Dimension): Result[] | undefined =>
  report?.group_by[0] === dimension ? groupsOf(report) : undefined

/** All groups of a dimension over the whole period, most expensive first. */
export function useGroups(scope: Scope, dimension: Dimension, enabled: boolean) {
  const query = usageQuery(questionOf(scope, { width: 'all', by: [dimension] }))
  const { data, isPlaceholderData } = useQuery({ ...query, enabled })
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
