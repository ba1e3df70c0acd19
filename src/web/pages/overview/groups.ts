/** Links of groups, and the stacks of the chart. Pure. */
import { type Dimension, keyOf, labelOf, narrowed } from '../../parts/usage/dimensions.ts'
import { MEASURES } from '../../parts/usage/measures.ts'
import type { Figures, Result, Usage } from '../../parts/usage/usage.ts'
import { addressIn, type Scope } from './scope.ts'

export type Measure = 'cost' | 'tokens'

/** An unknown cost has no height and no share. */
export const measured = (figures: Figures, measure: Measure): number => MEASURES[measure].of(figures) ?? 0

/** The filter of a group in addresses; undefined if none selects it. A project's key is more readable than its id. */
const filterOf = (result: Result, dimension: Dimension) =>
  narrowed({}, [[dimension, (dimension === 'project' && result.project?.key) || keyOf(result, dimension)]])

/** A link to the entries of a group; undefined if no filter selects them. */
export function entriesOf(
  result: Result,
  dimension: Dimension,
  scope: Scope,
  more: Parameters<typeof addressIn>[2] = {},
): string | undefined {
  const filter = filterOf(result, dimension)
  return filter && addressIn('/entries', scope, { ...filter, ...more })
}

/** The report of all groups of a dimension. */
export const groupsReport = (
  scope: Scope,
  { dimension, measure }: { dimension: Dimension; measure: Measure },
): string => addressIn('/reports', scope, { by: dimension, measure })

/** The report that compares a group, or all groups if no filter selects it, with the previous period. */
export const comparison = (
  result: Result | undefined,
  scope: Scope,
  { dimension, measure }: { dimension: Dimension; measure: Measure },
): string =>
  addressIn('/reports', scope, {
    ...(result && filterOf(result, dimension)),
    ...{ by: dimension, measure, compare: 'previous' },
  })

/** More leave little space for each. */
const STRIPES = 6

/** The largest groups by the measure, without the one that has no value. */
export const largest = (groups: readonly Result[], dimension: Dimension, measure: Measure): Result[] =>
  groups
    .filter((group) => keyOf(group, dimension) !== null && measured(group, measure) > 0)
    .toSorted((one, other) => measured(other, measure) - measured(one, measure))
    .slice(0, STRIPES)

/** Whether all that is not in a segment has no project. */
export const isRestNone = (groups: readonly Result[], segments: readonly Result[], dimension: Dimension): boolean =>
  dimension === 'project' &&
  groups.length === segments.length + 1 &&
  groups.some((group) => keyOf(group, dimension) === null)

/** The label of what is not in a segment: “No project” if that is all of it. */
export const restLabelOf = (groups: readonly Result[], segments: readonly Result[], dimension: Dimension): string =>
  isRestNone(groups, segments, dimension)
    ? labelOf(groups.find((group) => keyOf(group, dimension) === null)!, dimension)
    : 'Others'

/** A bar: the value of each stack, by index, and the rest. */
export interface Bar {
  starting_at: string
  segments: number[]
  rest: number
  total: number
}

/** Amounts are whole numbers of these, in which they add up without rounding errors. */
const PARTS = { cost: 1e9, tokens: 1 }

export function barsOf(
  trend: Usage,
  groupsCourse: Usage | null,
  { values, dimension, measure }: { values: readonly string[]; dimension: Dimension; measure: Measure },
): Bar[] {
  const byMoment = new Map(groupsCourse?.data.map((bucket) => [bucket.starting_at, bucket.results]))
  return trend.data.map(({ starting_at, results }) => {
    const total = results[0] ? measured(results[0], measure) : 0
    const here = new Map(byMoment.get(starting_at)?.map((result) => [keyOf(result, dimension), result]))
    const segments = values.map((value) => {
      const result = here.get(value)
      return result ? measured(result, measure) : 0
    })
    const inParts = (amount: number) => Math.round(amount * PARTS[measure])
    const rest = segments.reduce((left, segment) => left - inParts(segment), inParts(total))
    // An entry that arrived between the two reports may be in the segments only.
    return { starting_at, segments, rest: Math.max(0, rest) / PARTS[measure], total }
  })
}
