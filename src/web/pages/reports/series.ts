/** The series of a report's chart. Pure. */
import { colorsOf, MOST_COLORS, ONLY_COLOR, REST_COLOR } from '../../../shared/charts/colors.ts'
import { type ChartSeries, restSeries } from '../../parts/charts/series.ts'
import { type Dimension, keyOf, labelOf } from '../../parts/usage/dimensions.ts'
import { type MeasureName, measureOf } from '../../parts/usage/measures.ts'
import type { Result, Usage } from '../../parts/usage/usage.ts'

/** More groups than this are in the table only. */
export const MOST_GROUPS = 24

/** The key of the series of everything. */
export const ALL = ' all'

interface Of {
  dimension: Dimension
  measure: MeasureName
}

/** The largest groups, without those that have no value of the dimension. */
export function largest(groups: readonly Result[], { dimension, measure }: Of): Result[] {
  const { of } = measureOf(measure)
  return groups
    .filter((group) => keyOf(group, dimension) !== null && (of(group) ?? 0) > 0)
    .toSorted((one, other) => (of(other) ?? 0) - (of(one) ?? 0))
    .slice(0, MOST_COLORS)
}

/** The only group that is not among the largest; undefined if there are several. */
export function onlyOther(groups: readonly Result[], charted: readonly Result[], measure: MeasureName) {
  const others = groups.filter((group) => !charted.includes(group) && measureOf(measure).of(group) !== 0)
  return others.length === 1 ? others[0] : undefined
}

/** Amounts add up without rounding errors in nano-dollars; counts and hours as they are. */
const PARTS = { money: 1e9, count: 1, hours: 3_600_000 } as const

/** What is left of totals beside the series; no series if that is nothing. */
function restOf(
  totals: readonly (number | null)[],
  series: readonly ChartSeries[],
  measure: MeasureName,
  label = 'Others',
) {
  const parts = PARTS[measureOf(measure).unit]
  const whole = (value: number | null) => Math.round((value ?? 0) * parts)
  const values = totals.map((total, at) => {
    const rest = series.reduce((left, each) => left - whole(each.values[at] ?? 0), whole(total))
    return Math.max(0, rest) / parts
  })
  return values.some((value) => value > 0) ? [restSeries(label, values)] : []
}

/** Without the empty buckets before the first entry and after the last one: a session takes an hour of its day. */
export function spanOf(buckets: Usage['data']): Usage['data'] {
  const isUsed = ({ results }: Usage['data'][number]) => results.length > 0
  return buckets.slice(Math.max(0, buckets.findIndex(isUsed)), buckets.findLastIndex(isUsed) + 1)
}

/** The total of each bucket. Buckets without entries have none of anything. */
export const totalsOf = (buckets: Usage['data'], measure: MeasureName): (number | null)[] =>
  buckets.map(({ results: [all] }) => (all ? measureOf(measure).of(all) : 0))

/** The largest groups over time, and the rest if the measure adds up. */
export function groupSeries(
  totals: { at: readonly string[]; values: readonly (number | null)[] },
  { groups, other, trend }: { groups: readonly Result[]; other: Result | undefined; trend: Usage | undefined },
  { dimension, measure }: Of,
): ChartSeries[] {
  const { of, isDistinct } = measureOf(measure)
  const byMoment = new Map(trend?.data.map(({ starting_at, results }) => [starting_at, results]))
  const colors = colorsOf(groups.map((group) => keyOf(group, dimension)!))
  const series = groups.map((group, index): ChartSeries => {
    const key = keyOf(group, dimension)!
    const values = totals.at.map((moment) => {
      const result = byMoment.get(moment)?.find((result) => keyOf(result, dimension) === key)
      return result ? of(result) : 0
    })
    return { key, label: labelOf(group, dimension), values, color: colors[index]! }
  })
  return isDistinct
    ? series
    : [...series, ...restOf(totals.values, series, measure, other && labelOf(other, dimension))]
}

/** Both periods. */
export const comparedSeries = (
  values: readonly (number | null)[],
  earlier: readonly (number | null)[],
  names: { now: string; earlier: string },
): ChartSeries[] => [
  {
    key: 'earlier',
    label: names.earlier,
    // Periods of months have different numbers of days.
    values: values.map((_, at) => earlier[at] ?? null),
    color: REST_COLOR,
    isEarlier: true,
  },
  { key: ALL, label: names.now, values, color: ONLY_COLOR },
]

/** One series of all groups, for a chart of the whole period. */
export const onlySeries = (label: string, values: readonly (number | null)[]): ChartSeries => ({
  ...{ key: ALL, label, values, color: ONLY_COLOR },
})

/** The groups of the whole period as bars, divided by a second dimension. */
export function dividedSeries(
  keys: readonly string[],
  groups: readonly Result[],
  { first, second, measure }: { first: Dimension; second: Dimension; measure: MeasureName },
): ChartSeries[] {
  const { of, isDistinct } = measureOf(measure)
  const at = new Map(keys.map((key, index) => [key, index]))
  const parts = new Map<string | null, { label: string; values: number[]; sum: number }>()
  for (const group of groups) {
    const index = at.get(JSON.stringify(keyOf(group, first)))
    if (index === undefined) continue
    const key = keyOf(group, second)
    const part = parts.get(key) ?? { label: labelOf(group, second), values: keys.map(() => 0), sum: 0 }
    const value = of(group) ?? 0
    part.values[index]! += value
    part.sum += value
    parts.set(key, part)
  }
  const ordered = [...parts].toSorted(([, one], [, other]) => other.sum - one.sum)
  const shown = ordered.filter(([key]) => key !== null).slice(0, MOST_COLORS)
  const colors = colorsOf(shown.map(([key]) => key!))
  const series = shown.map(
    ([key, { label, values }], index): ChartSeries => ({ key: key!, label, values, color: colors[index]! }),
  )
  if (isDistinct) return series
  const totals = keys.map((_, index) => ordered.reduce((sum, [, { values }]) => sum + values[index]!, 0))
  return [...series, ...restOf(totals, series, measure)]
}
