/** The requests of what is in sight of the overview, sent before it is rendered. */
import { readAddress } from '../../address.ts'
import { widthFor } from '../../parts/charts/buckets.ts'
import { completenessQuery } from '../../parts/open-checks.tsx'
import type { Me } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'
import { OVERVIEW_ADDRESS } from './address.ts'
import { budgetsQuery } from './budgets.tsx'
import { forecastQuery } from './forecast-card.tsx'
import { groupsTrendQuery } from './groups-trend.ts'
import { boundsOf, scopeBefore, scopeOf } from './scope.ts'
import { reportQuery, trendQuery } from './usage.ts'

export function askOverview({ settings }: Me, search: string): void {
  const { by, measure, bucket, ...address } = readAddress(search, OVERVIEW_ADDRESS)
  const scope = scopeOf(address, settings.time_zone)
  const width = widthFor(scope.period, bucket)
  void queryClient.prefetchQuery(groupsTrendQuery(scope, { dimension: by, measure, width }))
  void queryClient.prefetchQuery(trendQuery(scope, width))
  void queryClient.prefetchQuery(reportQuery(scopeBefore(scope), by))
  void queryClient.prefetchQuery(completenessQuery(boundsOf(scope)))
  void queryClient.prefetchQuery(forecastQuery(scope, settings.time_zone))
  void queryClient.prefetchQuery(budgetsQuery(scope))
}
