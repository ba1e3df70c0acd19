/** The reports of the page, each of the entries that its filters let through. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { answer, type api, apiUntil, type Body } from '../../server/api.ts'

export const DIMENSIONS = ['model', 'agent_manager', 'project'] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** Of entries in a period. */
export interface Asked extends EntryQuery {
  starting_at: string
  ending_at: string
}

export type CacheReport = Body<Awaited<ReturnType<typeof api.reports.cache.get>>>
export type CacheGroup = CacheReport['data'][number]['results'][number]
export type WhatIfReport = Body<Awaited<ReturnType<(typeof api.reports)['what-if']['get']>>>
export type Surcharges = Body<Awaited<ReturnType<typeof api.reports.surcharges.get>>>
export type PriceChanges = Body<Awaited<ReturnType<(typeof api.reports)['price-changes']['get']>>>
export type Outliers = Body<Awaited<ReturnType<typeof api.reports.outliers.get>>>
export type Usage = Body<Awaited<ReturnType<typeof api.reports.usage.get>>>

type Width = '1d' | '1w' | '1mo'

/** A dozen steps or so of most periods. */
export function widthFor({ starting_at, ending_at }: Pick<Asked, 'starting_at' | 'ending_at'>): Width {
  const days = (Date.parse(ending_at) - Date.parse(starting_at)) / DAY_MS
  return days <= 16 ? '1d' : days <= 120 ? '1w' : '1mo'
}

const DAY_MS = 86_400_000

export const useCache = (asked: Asked, dimension: Dimension, width: Width | 'all') =>
  useQuery({
    queryKey: ['reports', 'cache', asked, dimension, width],
    queryFn: ({ signal }) =>
      answer(apiUntil(signal).reports.cache.get({ query: { ...asked, group_by: dimension, bucket_width: width } })),
    placeholderData: keepPreviousData,
  })

export const useMix = (asked: Asked, width: Width | 'all') =>
  useQuery({
    queryKey: ['reports', 'mix', asked, width],
    queryFn: ({ signal }) =>
      answer(
        apiUntil(signal).reports.usage.get({
          query: { ...asked, group_by: ['model'], bucket_width: width, fill_gaps: 'true' },
        }),
      ),
    placeholderData: keepPreviousData,
  })

export const useWhatIf = (asked: Asked, as: string | undefined) =>
  useQuery({
    queryKey: ['reports', 'what-if', asked, as],
    queryFn: ({ signal }) => answer(apiUntil(signal).reports['what-if'].get({ query: { ...asked, as_model: as! } })),
    enabled: as !== undefined,
    placeholderData: keepPreviousData,
  })

export const usePriceChanges = (asked: Asked) =>
  useQuery({
    queryKey: ['reports', 'price-changes', asked],
    queryFn: ({ signal }) => answer(apiUntil(signal).reports['price-changes'].get({ query: asked })),
    placeholderData: keepPreviousData,
  })

export const useSurcharges = (asked: Asked) =>
  useQuery({
    queryKey: ['reports', 'surcharges', asked],
    queryFn: ({ signal }) => answer(apiUntil(signal).reports.surcharges.get({ query: asked })),
    placeholderData: keepPreviousData,
  })

export const useOutliers = (asked: Asked) =>
  useQuery({
    queryKey: ['reports', 'outliers', asked],
    queryFn: ({ signal }) => answer(apiUntil(signal).reports.outliers.get({ query: asked })),
    placeholderData: keepPreviousData,
  })
