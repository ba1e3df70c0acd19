/** The largest groups of a report over time, each with the color that it has everywhere, and the others as one. Pure. */
import { colorsOf, MOST_COLORS, REST_COLOR } from './colors.ts'

export interface GroupSeries {
  /** Undefined for the others, and for what has no value. */
  id: string | undefined
  label: string
  color: string
  values: (number | null)[]
}

interface Reading<Result> {
  /** Undefined for results without a value of the dimension. */
  idOf: (result: Result) => string | undefined
  labelOf: (result: Result) => string
  /** Of some groups in one bucket; null if it is unknown. */
  sumOf: (results: readonly Result[]) => number | null
  /** Whether what is left of the largest groups adds up. */
  hasRest: boolean
}

export function groupSeries<Result>(
  buckets: readonly (readonly Result[])[],
  { idOf, labelOf, sumOf, hasRest }: Reading<Result>,
): GroupSeries[] {
  const groups = [...Map.groupBy(buckets.flat(), idOf)]
    .map(([id, results]) => ({ id, label: labelOf(results[0]!), total: sumOf(results) ?? 0 }))
    .filter(({ total }) => total > 0)
    .sort((one, other) => other.total - one.total)
  const shown = groups.filter(({ id }) => id !== undefined).slice(0, MOST_COLORS)
  const rest = groups.filter((group) => !shown.includes(group))
  const valuesOf = (ids: ReadonlySet<string | undefined>) =>
    buckets.map((results) => sumOf(results.filter((result) => ids.has(idOf(result)))))
  const colors = colorsOf(shown.map(({ id }) => id!))
  const series = shown.map(
    ({ id, label }, at): GroupSeries => ({ id, label, color: colors[at]!, values: valuesOf(new Set([id])) }),
  )
  if (rest.length === 0 || !hasRest) return series
  const label = rest.length === 1 ? rest[0]!.label : 'Others'
  return [...series, { id: undefined, label, color: REST_COLOR, values: valuesOf(new Set(rest.map(({ id }) => id))) }]
}
