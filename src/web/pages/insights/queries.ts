/** The reports of the page, each of the entries that its filters let through. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { addDays, dayOf } from '../../format/moments.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { type api, apiQuery, type Body } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'

export const DIMENSIONS = ['model', 'agent_manager', 'project'] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** Of entries in a period. */
export interface ReportQuery extends EntryQuery {
  starting_at: string
  ending_at: string
}

export type CacheReport = Body<Awaited<ReturnType<typeof api.reports.cache.get>>>
export type CacheGroup = CacheReport['data'][number]['results'][number]
export type WhatIfReport = Body<Awaited<ReturnType<(typeof api.reports)['what-if']['get']>>>
export type Surcharges = Body<Awaited<ReturnType<typeof api.reports.surcharges.get>>>
export type PriceChanges = Body<Awaited<ReturnType<(typeof api.reports)['price-changes']['get']>>>
export type Outliers = Body<Awaited<ReturnType<typeof api.reports.outliers.get>>>
export type LimitsReport = Body<Awaited<ReturnType<typeof api.reports.limits.get>>>
export type LimitUse = LimitsReport['data'][number]
export type SeatsReport = Body<Awaited<ReturnType<typeof api.reports.plans.get>>>
export type PlanValue = SeatsReport['data'][number]
export type Usage = Body<Awaited<ReturnType<typeof api.reports.usage.get>>>

type Width = '1d' | '1w' | '1mo'

/** A dozen steps or so of most periods. */
export function widthFor({ starting_at, ending_at }: Pick<ReportQuery, 'starting_at' | 'ending_at'>): Width {
  const days = (Date.parse(ending_at) - Date.parse(starting_at)) / DAY_MS
  return days <= 16 ? '1d' : days <= 120 ? '1w' : '1mo'
}

const DAY_MS = 86_400_000

export const useCache = (query: ReportQuery, dimension: Dimension, trend: Width) =>
  useQuery({
    ...apiQuery(['reports', 'cache', query, dimension, trend], (api) =>
      api.reports.cache.get({ query: { ...query, group_by: dimension, trend } }),
    ),
    placeholderData: keepPreviousData,
  })

/** As a parameter; `cost` is what absence means. */
export const basisOf = (basis: CostBasis) => (basis === 'cost' ? {} : { basis })

export const useMix = (query: ReportQuery, width: Width | 'all', basis: CostBasis) =>
  useQuery({
    ...apiQuery(['reports', 'mix', query, width, basis], (api) =>
      api.reports.usage.get({
        query: { ...query, ...basisOf(basis), group_by: ['model'], bucket_width: width, fill_gaps: 'true' },
      }),
    ),
    placeholderData: keepPreviousData,
  })

export const useWhatIf = (query: ReportQuery, as: string | undefined) =>
  useQuery({
    ...apiQuery(['reports', 'what-if', query, as], (api) =>
      api.reports['what-if'].get({ query: { ...query, as_model: as! } }),
    ),
    enabled: as !== undefined,
    placeholderData: keepPreviousData,
  })

export const usePriceChanges = (query: ReportQuery) =>
  useQuery({
    ...apiQuery(['reports', 'price-changes', query], (api) => api.reports['price-changes'].get({ query: query })),
    placeholderData: keepPreviousData,
  })

export const useSurcharges = (query: ReportQuery) =>
  useQuery({
    ...apiQuery(['reports', 'surcharges', query], (api) => api.reports.surcharges.get({ query: query })),
    placeholderData: keepPreviousData,
  })

export const useOutliers = (query: ReportQuery, basis: CostBasis) =>
  useQuery({
    ...apiQuery(['reports', 'outliers', query, basis], (api) =>
      api.reports.outliers.get({ query: { ...query, ...basisOf(basis) } }),
    ),
    placeholderData: keepPreviousData,
  })

/** As long as readings are kept. */
const LIMIT_DAYS = 400

/** Limits belong to people and agents, so no other filter applies. */
export function useLimits({ starting_at, ending_at, agent_manager: user, agent_harness }: ReportQuery) {
  const { time_zone } = useSettings()
  const to = dayOf(new Date(Date.parse(ending_at) - 1), time_zone)
  const earliest = addDays(to, 1 - LIMIT_DAYS)
  const [from] = [earliest, dayOf(new Date(starting_at), time_zone)].sort().reverse()
  const query = { from, to, user, agent_harness }
  return useQuery({
    ...apiQuery(['reports', 'limits', query], (api) => api.reports.limits.get({ query: query as never })),
    placeholderData: keepPreviousData,
  })
}

/** Periods of plans are of all people and agents, so no other filter applies. */
export function useSeats({ starting_at, ending_at }: ReportQuery) {
  const { time_zone } = useSettings()
  const query = {
    from: dayOf(new Date(starting_at), time_zone),
    to: dayOf(new Date(Date.parse(ending_at) - 1), time_zone),
  }
  return useQuery({
    ...apiQuery(['reports', 'plans', query], (api) => api.reports.plans.get({ query })),
    placeholderData: keepPreviousData,
  })
}
