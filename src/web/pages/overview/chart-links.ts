/** Where the bars and the legend of the chart lead. Pure. */
import type { ChartPoint, ChartSeries } from '../../parts/charts/series.ts'
import { type Dimension, keyOf } from '../../parts/usage/dimensions.ts'
import type { Result, Usage } from '../../parts/usage/usage.ts'
import { entriesOf, groupsReport, isRestNone, type Measure } from './groups.ts'
import { addressIn, type Scope } from './scope.ts'

interface Charted {
  scope: Scope
  dimension: Dimension
  measure: Measure
  trend: Usage
  groups: readonly Result[]
  segments: readonly Result[]
}

/**
 * A bar, or a part of it, leads to its entries; an entry of the legend to the project, or to the entries of the model or
 * person; the rest in the legend to the report of all groups. The rest of a bar has no filter: it leads where the bar does.
 */
export function chartLinks({ scope, dimension, measure, trend, groups, segments }: Charted) {
  const ends = new Map(trend.data.map(({ starting_at, ending_at }) => [starting_at, ending_at]))
  const groupOf = (series: ChartSeries): Result | undefined =>
    segments.find((segment) => keyOf(segment, dimension) === series.key) ??
    (isRestNone(groups, segments, dimension) ? groups.find((group) => keyOf(group, dimension) === null) : undefined)

  return (point: ChartPoint | undefined, series: ChartSeries | undefined): string | undefined => {
    const group = series && groupOf(series)
    if (point) {
      const between = { period: undefined, starting_at: point.key, ending_at: ends.get(point.key) }
      if (!series) return addressIn('/entries', scope, between)
      return group && entriesOf(group, dimension, scope, between)
    }
    if (!group) return groupsReport(scope, { dimension, measure })
    if (group.project) return `/work/projects/${group.project.id}`
    return entriesOf(group, dimension, scope)
  }
}
