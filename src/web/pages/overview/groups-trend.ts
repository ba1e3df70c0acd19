/** Usage over time of the largest groups. */

import { queryOptions } from '@tanstack/react-query'
import type { Width } from '../../parts/charts/buckets.ts'
import { keyOf } from '../../parts/usage/dimensions.ts'
import { queryClient } from '../../server/queries.ts'
import { largest, type Measure } from './groups.ts'
import type { Scope } from './scope.ts'
import { asked, askGroupsTrend, groupsOf, reportQuery } from './usage.ts'

export interface Chosen {
  dimension: 'project' | 'model' | 'agent_manager'
  measure: Measure
  width: Width
}

/** Sent as soon as the groups are here, while the page still renders them. */
export const groupsTrendQuery = (scope: Scope, { dimension, measure, width }: Chosen) =>
  queryOptions({
    queryKey: [...asked(scope), 'course', width, dimension, measure],
    queryFn: async ({ signal }) => {
      const groups = groupsOf(await queryClient.fetchQuery(reportQuery(scope, dimension)))
      const stripes = largest(groups, dimension, measure)
      const values = stripes.map((stripe) => keyOf(stripe, dimension)!)
      const course = values.length > 0 ? await askGroupsTrend(scope, { dimension, values, width }, signal) : undefined
      return { groups, stripes, values, course }
    },
  })
