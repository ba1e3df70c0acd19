/** The cost of projects in lists, as far as the person may see it. */
import { useQuery } from '@tanstack/react-query'
import { sumsQuery } from '../../parts/entries/sums-query.ts'
import { asBounds, readPeriod } from '../../parts/period.ts'
import { apiQuery } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'

/** This month, as a period in the URL: costs since its first day. */
export const THIS_MONTH = 'month'

/** Cost by project, for this month or all time. Projects without usage are absent. */
export function useCosts(since: 'month' | 'ever', enabled: boolean): Map<string, number | null> | undefined {
  const { time_zone } = useSettings()
  const query = since === 'month' ? asBounds(readPeriod(THIS_MONTH, time_zone)) : {}
  const { data } = useQuery({
    ...apiQuery(['reports', 'work', query], (api) =>
      api.reports.usage.get({ query: { ...sumsQuery(query), group_by: ['project'] } }),
    ),
    enabled,
  })
  if (!data) return undefined
  const results = data.data.flatMap(({ results }) => results)
  return new Map(results.flatMap(({ project, cost }) => (project ? [[project.id, cost] as const] : [])))
}
