/** The parameters of the request of the overview, which is sent before the application is here. */
import type { CostBasis } from '../../../shared/cost-basis.ts'
import type { Width } from '../../parts/charts/buckets.ts'
import { asBounds, type Period } from '../../parts/period.ts'

export interface OverviewRequest {
  period: Period
  previous: Period
  /** Clients and projects. */
  filter?: Record<string, string[]>
  width: Width
  dimension: 'project' | 'model' | 'agent_manager'
  basis: CostBasis
}

export function overviewParameters({ period, previous, filter, width, dimension, basis }: OverviewRequest) {
  const before = asBounds(previous)
  return {
    ...filter,
    ...asBounds(period),
    previous_starting_at: before.starting_at,
    previous_ending_at: before.ending_at,
    bucket_width: width,
    group_by: dimension,
    ...(basis !== 'cost' && { basis }),
  }
}
