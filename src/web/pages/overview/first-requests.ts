/** The request of what is in sight of the overview, sent before it is rendered. */
import { readAddress } from '../../address.ts'
import { widthFor } from '../../parts/charts/buckets.ts'
import type { Me } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'
import { OVERVIEW_ADDRESS } from './address.ts'
import { scopeOf } from './scope.ts'
import { overviewQuery } from './usage.ts'

export function askOverview(me: Me, search: string): void {
  const { by, measure: _, bucket, ...address } = readAddress(search, OVERVIEW_ADDRESS)
  const scope = scopeOf(address, me)
  void queryClient.prefetchQuery(overviewQuery(scope, { dimension: by, width: widthFor(scope.period, bucket) }))
}
