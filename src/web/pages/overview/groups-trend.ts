/** Usage over time of the largest groups. */
import { queryOptions } from '@tanstack/react-query'
import type { Width } from '../../parts/charts/buckets.ts'
import { keyOf } from '../../parts/usage/dimensions.ts'
import { askUsage } from '../../parts/usage/usage.ts'
import { queryClient } from '../../server/queries.ts'
import { largest, type Measure } from './groups.ts'
import { boundsOf, type Scope } from './scope.ts'
import { groupsOf, questionOf, reportQuery } from './usage.ts'

export interface Chosen {
  dimension: 'project' | 'model' | 'agent_manager'
  measure: Measure
  width: Width
}

/** Sent as soon as the groups are here, while the page still renders them. */
export const groupsTrendQuery = (scope: Scope, { dimension, measure, width }: Chosen) =>
  queryOptions({
    queryKey: ['reports', 'overview', boundsOf(scope), width, dimension, measure],
    queryFn: async ({ signal }) => {
      const groups = groupsOf(await queryClient.fetchQuery(reportQuery(scope, dimension)))
      const segments = largest(groups, dimension, measure)
      const values = segments.map((segment) => keyOf(segment, dimension)!)
      const question = questionOf(scope, { width, by: [dimension] })
      // A year of all groups could be megabytes.
      const filter = { ...question.filter, [dimension]: values }
      const trend = values.length > 0 ? await askUsage({ ...question, filter }, signal) : undefined
      return { groups, segments, values, trend }
    },
  })
