/** Usage of projects and clients, as far as the person may see it. */
import { useQuery } from '@tanstack/react-query'
import { addMonths, dayOf, firstOfMonth } from '../../format/moments.ts'
import { sumsQuery } from '../../parts/entries/sums-query.ts'
import { asBounds, readPeriod } from '../../parts/period.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'

/** How many months are shown. */
const MONTHS = 6

export interface WorkFilter {
  project?: string[]
  client?: string[]
}

export type Figures = Awaited<ReturnType<typeof askTotals>>['totals']

/** As the list of all their entries totals them. */
const askTotals = (filter: WorkFilter, signal: AbortSignal) =>
  answer(apiUntil(signal).reports.usage.get({ query: sumsQuery(filter) }))

/** This month, as a period in the URL: costs since its first day. */
export const THIS_MONTH = 'month'

function useThisMonth(): string {
  const { time_zone } = useSettings()
  return firstOfMonth(dayOf(new Date(), time_zone))
}

/** Cost by project, for this month or all time. Projects without usage are absent. */
export function useCosts(since: 'month' | 'ever', enabled: boolean): Map<string, number | null> | undefined {
  const { time_zone } = useSettings()
  const query = since === 'month' ? asBounds(readPeriod(THIS_MONTH, time_zone)) : {}
  const { data } = useQuery({
    queryKey: ['reports', 'work', query],
    queryFn: ({ signal }) =>
      answer(apiUntil(signal).reports.usage.get({ query: { ...sumsQuery(query), group_by: ['project'] } })),
    enabled,
  })
  if (!data) return undefined
  const results = data.data.flatMap(({ results }) => results)
  return new Map(results.flatMap(({ project, cost }) => (project ? [[project.id, cost] as const] : [])))
}

/** Total usage of all time. */
export function useEver(filter: WorkFilter) {
  return useQuery({
    queryKey: ['reports', 'work', 'ever', filter],
    queryFn: async ({ signal }) => (await askTotals(filter, signal)).totals,
  })
}

/** The last months, newest first, starting with the current one. */
export function useMonths(filter: WorkFilter) {
  const starting_at = addMonths(useThisMonth(), 1 - MONTHS)
  return useQuery({
    queryKey: ['reports', 'work', 'months', starting_at, filter],
    queryFn: async ({ signal }) => {
      const { data } = await answer(
        apiUntil(signal).reports.usage.get({
          query: { ...filter, starting_at, bucket_width: '1mo', fill_gaps: 'true' },
        }),
      )
      return data.toReversed()
    },
  })
}
