/** The filters that measures of entries answer, as tests of rows. Pure. */

import type { CostBasis } from '../../shared/cost-basis.ts'
import { COUNT_KINDS, mapCounts } from '../../shared/usage.ts'
import { type EntryFilter, isCostMismatch } from '../selection/contract.ts'
import { exactCostsOf, figuresOfSums } from './figures.ts'
import { exactAt, FIGURES_OF_BASIS, MEASURES_OF, type Measure, type Segment, type Summed, summedOf } from './segment.ts'

export interface MeasureTest {
  readonly measures: readonly Measure[]
  /** Of a segment of entries, whether a row passes; a constant if that is known without looking at the values. */
  ofEntries(segment: Segment): RowTest
  /** The figures of sums that `ofSums` reads. */
  readonly figures: readonly Summed[]
  /** Of a segment of sums, whether a group may contain entries that pass. */
  ofSums(segment: Segment): RowTest
}

export type RowTest = boolean | ((row: number) => boolean)

/** The filters with their tests. */
const TESTS = {
  priced: (isPriced: boolean): MeasureTest => ({
    measures: ['listValue', 'reportedCost'],
    ofEntries(segment) {
      if (!segment.column('listValue').hasNulls || !segment.column('reportedCost').hasNulls) return isPriced
      const [list, reported] = [segment.integers('listValue').values, segment.integers('reportedCost').values]
      return (row) => (Number.isNaN(list[row]!) && Number.isNaN(reported[row]!)) !== isPriced
    },
    figures: ['entries', 'unpricedEntries'],
    ofSums(segment) {
      const [entries, unpriced] = [segment.integers('entries').values, segment.integers('unpricedEntries').values]
      return (row) => (isPriced ? entries[row]! > unpriced[row]! : unpriced[row]! > 0)
    },
  }),

  unknown_cost: (bases: readonly CostBasis[]): MeasureTest => ({
    measures: [...new Set(bases.flatMap((basis) => MEASURES_OF[FIGURES_OF_BASIS[basis][0]]))],
    ofEntries(segment) {
      const costs = bases.map((basis) => exactCostsOf(segment, basis).values)
      return (row) => costs.some((values) => Number.isNaN(values[row]!))
    },
    figures: bases.flatMap((basis) => summedOf(FIGURES_OF_BASIS[basis][1])),
    ofSums(segment) {
      const figures = bases.map((basis) => FIGURES_OF_BASIS[basis][1])
      const unknown = figuresOfSums(segment, figures).flatMap(({ integers }) => integers?.values ?? [])
      return (row) => unknown.some((values) => values[row]! > 0)
    },
  }),

  cost_mismatch: (isMismatch: boolean): MeasureTest => ({
    measures: ['listValue', 'reportedCost', ...COUNT_KINDS],
    ofEntries(segment) {
      if (segment.column('listValue').range === undefined || segment.column('reportedCost').range === undefined)
        return !isMismatch
      const [list, reported] = [segment.integers('listValue'), segment.integers('reportedCost')]
      return (row) => {
        // Exact values are needed only of entries that have both.
        if (Number.isNaN(list.values[row]!) || Number.isNaN(reported.values[row]!)) return !isMismatch
        const amounts = { reportedCost: exactAt(reported, row), listValue: exactAt(list, row) }
        const counts = mapCounts((kind) => segment.integers(kind).values[row]!)
        return isCostMismatch({ ...amounts, ...counts }) === isMismatch
      }
    },
    figures: ['comparedEntries'],
    ofSums(segment) {
      const compared = segment.integers('comparedEntries').values
      return (row) => !isMismatch || compared[row]! > 0
    },
  }),

  ended_after: (moment: number): MeasureTest => ({
    measures: ['startedAt', 'duration'],
    ofEntries: (segment) => endsAfter(segment, moment),
    figures: [],
    ofSums: () => true,
  }),
} as const satisfies Partial<Record<keyof EntryFilter, unknown>>

/** Whether the session of a row of entries continued past a moment. */
export function endsAfter(segment: Segment, moment: number): RowTest {
  const [start, duration] = [segment.column('startedAt'), segment.column('duration')]
  if (start.range!.max + duration.range!.max <= moment) return false
  const [starts, durations] = [segment.integers('startedAt').values, segment.integers('duration').values]
  return (row) => starts[row]! + durations[row]! > moment
}

export const isMeasured = (name: keyof EntryFilter): name is keyof typeof TESTS => Object.hasOwn(TESTS, name)

/** The tests of a filter. */
export function measureTests(filter: EntryFilter): MeasureTest[] {
  const { priced, unknown_cost, cost_mismatch, ended_after } = filter
  return [
    ...(priced === undefined ? [] : [TESTS.priced(priced)]),
    ...(unknown_cost === undefined ? [] : [TESTS.unknown_cost(unknown_cost)]),
    ...(cost_mismatch === undefined ? [] : [TESTS.cost_mismatch(cost_mismatch)]),
    ...(ended_after === undefined ? [] : [TESTS.ended_after(ended_after)]),
  ]
}
