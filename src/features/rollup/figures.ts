/** The figures of the rows of segments: read from columns, or calculated from the amounts of entries. Pure. */
import type { CostBasis } from '../../shared/cost-basis.ts'
import type { Column, Integers } from './column.ts'
import type { RowFigure } from './groups.ts'
import { type ColumnName, FIGURES_OF_BASIS, type Figure, knownOf, type Segment, type Summed } from './segment.ts'

/** Of rows without a value. */
export const NO_FIGURE: RowFigure = { integers: undefined, isNone: true, bound: 0 }
export const ZERO_FIGURE: RowFigure = { integers: undefined, isNone: false, bound: 0 }

function figureOfColumn(segment: Segment, name: ColumnName): RowFigure {
  const { constant, bound } = segment.column(name)
  if (constant === 0) return ZERO_FIGURE
  if (constant !== undefined && Number.isNaN(constant)) return NO_FIGURE
  return { integers: segment.integers(name), isNone: false, bound }
}

function figureOf(values: Float64Array, bound: number): RowFigure {
  return { integers: { values }, isNone: false, bound }
}

/** One for each row. */
export function onesOf(length: number): RowFigure {
  return figureOf(new Float64Array(length).fill(1), length)
}

/** Figures of a segment of sums. */
export function figuresOfSums(segment: Segment, figures: readonly Figure[]): RowFigure[] {
  return figures.map((figure) => {
    const known = knownOf(figure)
    return known ? remainder(segment, known) : figureOfColumn(segment, figure as Summed)
  })
}

/** The entries without those that are counted. */
function remainder(segment: Segment, counted: Summed): RowFigure {
  const all = figureOfColumn(segment, 'entries')
  const { integers } = figureOfColumn(segment, counted)
  if (!all.integers || !integers) return all
  const values = new Float64Array(segment.length)
  // `map` would take many times as long.
  for (let at = 0; at < values.length; at += 1) values[at] = all.integers.values[at]! - integers.values[at]!
  return figureOf(values, all.bound)
}

/** Figures of a segment of entries. */
export function figuresOfEntries(segment: Segment, figures: readonly Figure[]): RowFigure[] {
  return figures.map((figure) => figureOfEntries(segment, figure))
}

function figureOfEntries(segment: Segment, figure: Figure): RowFigure {
  switch (figure) {
    case 'entries':
      return onesOf(segment.length)
    case 'input':
    case 'output':
    case 'cacheRead':
    case 'cacheWrite':
    case 'cacheWrite1h':
    case 'listValue':
    case 'reportedCost':
    case 'duration':
    case 'activeMs':
    case 'marginal':
    case 'allocated':
      return figureOfColumn(segment, figure)
    case 'activeEntries':
      return countOf(segment, 'activeMs', 'known')
    case 'marginalEntries':
      return countOf(segment, 'marginal', 'known')
    case 'allocatedEntries':
      return countOf(segment, 'allocated', 'known')
    case 'unlistedEntries':
      return countOf(segment, 'listValue', 'unknown')
    case 'unmarginalEntries':
      return countOf(segment, 'marginal', 'unknown')
    case 'unallocatedEntries':
      return countOf(segment, 'allocated', 'unknown')
    default:
      return figureOfAmounts(segment, figure)
  }
}

/** 1 for each row with a value, or without one. */
function countOf(segment: Segment, name: ColumnName, counted: 'known' | 'unknown'): RowFigure {
  const column = segment.column(name)
  if (isNull(column) || !column.hasNulls) {
    return isNull(column) === (counted === 'known') ? ZERO_FIGURE : onesOf(segment.length)
  }
  const [ofKnown, ofUnknown] = counted === 'known' ? [1, 0] : [0, 1]
  const amounts = segment.integers(name).values
  const values = new Float64Array(amounts.length)
  for (let at = 0; at < values.length; at += 1) values[at] = Number.isNaN(amounts[at]!) ? ofUnknown! : ofKnown!
  return figureOf(values, values.length)
}

type AmountFigure = 'unpricedEntries' | 'cost' | `compared${'Entries' | 'ReportedCost' | 'ListValue'}`

/** Of entries, calculated from both amounts. */
function figureOfAmounts(segment: Segment, figure: AmountFigure): RowFigure {
  const [list, reported] = [segment.column('listValue'), segment.column('reportedCost')]
  if (isNull(reported)) {
    if (figure === 'cost') return figureOfColumn(segment, 'listValue')
    if (figure !== 'unpricedEntries') return figure === 'comparedEntries' ? ZERO_FIGURE : NO_FIGURE
    if (list.constant !== undefined && !isNull(list)) return ZERO_FIGURE
  }
  const [listed, given] = [segment.integers('listValue'), segment.integers('reportedCost')]
  const { length } = segment
  const values = new Float64Array(length)
  switch (figure) {
    case 'unpricedEntries':
      countUnpriced(values, listed.values, given.values)
      return figureOf(values, length)
    case 'comparedEntries':
      countCompared(values, listed.values, given.values)
      return figureOf(values, length)
    case 'cost':
      return combined(values, given, listed, (one, other) => (Number.isNaN(one) ? other : one), [list, reported])
    case 'comparedListValue':
      return combined(values, listed, given, (one, other) => (Number.isNaN(other) ? Number.NaN : one), [list, reported])
    case 'comparedReportedCost':
      return combined(values, given, listed, (one, other) => (Number.isNaN(other) ? Number.NaN : one), [list, reported])
  }
}

function countUnpriced(values: Float64Array, listed: Float64Array, given: Float64Array): void {
  for (let at = 0; at < values.length; at += 1) {
    values[at] = Number.isNaN(listed[at]!) && Number.isNaN(given[at]!) ? 1 : 0
  }
}

function countCompared(values: Float64Array, listed: Float64Array, given: Float64Array): void {
  for (let at = 0; at < values.length; at += 1) {
    values[at] = Number.isNaN(listed[at]!) || Number.isNaN(given[at]!) ? 0 : 1
  }
}

/** Values of `one` or `other`, chosen by `choose`, which returns one of its arguments or NaN. */
function combined(
  values: Float64Array,
  one: Integers,
  other: Integers,
  choose: (one: number, other: number) => number,
  columns: readonly Column[],
): RowFigure {
  for (let at = 0; at < values.length; at += 1) values[at] = choose(one.values[at]!, other.values[at]!)
  const beyond = new Map<number, bigint>()
  for (const [at, exact] of other.beyond ?? []) if (Number.isNaN(one.values[at]!)) take(at, exact)
  for (const [at, exact] of one.beyond ?? []) take(at, exact)
  // Values beyond doubles are 0.
  function take(at: number, exact: bigint): void {
    if (values[at] === 0) beyond.set(at, exact)
  }
  return { integers: { values, beyond }, isNone: false, bound: columns.reduce((sum, { bound }) => sum + bound, 0) }
}

function isNull({ constant }: Column): boolean {
  return constant !== undefined && Number.isNaN(constant)
}

/** The cost of each entry on a basis; NaN if it is unknown. */
export function exactCostsOf(segment: Segment, basis: CostBasis): Integers {
  const { integers, isNone } = figureOfEntries(segment, FIGURES_OF_BASIS[basis][0])
  return integers ?? { values: new Float64Array(segment.length).fill(isNone ? Number.NaN : 0) }
}

/** Like {@link exactCostsOf}, but rough beyond 2^53. */
export function roughCostsOf(segment: Segment): Float64Array {
  const { values, beyond } = exactCostsOf(segment, 'cost')
  if (!beyond || beyond.size === 0) return values
  const rough = values.slice()
  for (const [at, exact] of beyond) rough[at] = Number(exact)
  return rough
}
