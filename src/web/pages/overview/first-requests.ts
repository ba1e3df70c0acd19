/** The requests of the overview, sent before it is rendered. */
import { readAddress } from '../../address.ts'
import { widthFor } from '../../parts/charts/buckets.ts'
import { readPeriod } from '../../parts/period.ts'
import { type Me, seesEverything } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'
import { OVERVIEW_ADDRESS } from './address.ts'
import { budgetsQuery } from './budgets.tsx'
import { groupsTrendQuery } from './groups-trend.ts'
import { LARGEST } from './largest.tsx'
import { completenessQuery, reportQuery, ticketsToDecideQuery, totalsBeforeQuery, trendQuery } from './usage.ts'

export function askOverview({ person, settings }: Me, search: string): void {
  const { period: name, by, measure, bucket } = readAddress(search, OVERVIEW_ADDRESS)
  const period = readPeriod(name, settings.time_zone)
  const width = widthFor(period, bucket)
  void queryClient.prefetchQuery(groupsTrendQuery(period, { dimension: by, measure, width }))
  void queryClient.prefetchQuery(trendQuery(period, width))
  void queryClient.prefetchQuery(totalsBeforeQuery(period))
  void queryClient.prefetchQuery(completenessQuery(period))
  for (const dimension of LARGEST) void queryClient.prefetchQuery(reportQuery(period, dimension))
  void queryClient.prefetchQuery(budgetsQuery)
  if (seesEverything(person.role)) void queryClient.prefetchQuery(ticketsToDecideQuery)
}
