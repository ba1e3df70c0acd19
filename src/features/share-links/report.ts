/** What a link to a report shows: which money, and what it is called. Pure. */
import type { SharedReport } from '../../database/schema/records.ts'
import { BILLED_FILTERS, NOT_FILTERS } from '../../shared/billed-reports.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { type Dimension, titleOf as dimensionTitle, type Grouped } from '../../shared/dimensions.ts'
import { type MeasureDefinition, type MeasuredFigures, measureOf } from '../../shared/measures.ts'

export interface ShownFigures extends MeasuredFigures {
  unpriced_entries?: number
  /** What was billed, by currency, and for how many of the entries. */
  amounts?: { currency: string; amount: number }[]
  amount_entries?: number
}

export type ShownResult = ShownFigures & Grouped

/** What the reports of people and of viewers have in common. */
export interface ShownReport {
  starting_at: string
  ending_at: string
  time_zone: string
  bucket_width: string
  group_by: Dimension[]
  /** Absent of what was billed. */
  basis?: CostBasis
  provisional?: true
  totals: ShownFigures
  data: { starting_at: string; period?: { starting_at: string }; results: ShownResult[] }[]
  has_more?: boolean
}

/** Numbers, where a report has exact ones, which nobody calculates with: a page only shows them. */
export const plain = (report: object): ShownReport => JSON.parse(JSON.stringify(report))

export interface Shared {
  report: SharedReport
  money: 'cost' | 'billed' | 'none'
  showsPeople: boolean
}

export interface ShownMeasure extends Pick<MeasureDefinition, 'title' | 'include' | 'isDistinct'> {
  of: (figures: ShownFigures) => number | null
  unit: 'cost' | 'amount' | 'count' | 'hours'
}

/** In several currencies, they have no sum. */
const BILLED: ShownMeasure = {
  title: 'Billed amount',
  unit: 'amount',
  of: ({ amounts = [] }) => (amounts.length > 1 ? null : (amounts[0]?.amount ?? 0)),
}

/** The measure that was on the screen, unless it is of money that the link does not show. */
export function measureShown({ report, money }: Pick<Shared, 'report' | 'money'>): ShownMeasure {
  const { measure = 'cost', texts } = report
  const { unit, ...asked } = measureOf(measure, texts.basis as CostBasis | undefined)
  if (money === 'billed' && (unit === 'money' || asked.include)) return BILLED
  if (unit !== 'money') return { ...asked, unit }
  return money === 'cost' ? { ...asked, unit: 'cost' } : { ...measureOf('tokens'), unit: 'count' }
}

/** As many names as a title has, and a word for the others. */
const NAMES_LIMIT = 3

/** Filters whose values name no person. */
const TITLED = ['model', 'provider', 'agent_harness']

/** “Cost by model, Lumen”: of its grouping, and the names of what its filters select. */
export function titleOf({ report, money }: Pick<Shared, 'report' | 'money'>, names: readonly string[]): string {
  const { texts } = report
  const grouped = [texts.group_by ?? []].flat().map((dimension) => dimensionTitle(dimension as Dimension).toLowerCase())
  const all = [...names, ...TITLED.flatMap((name) => texts[name] ?? [])]
  const others = all.length - NAMES_LIMIT
  return [
    `${measureShown({ report, money }).title}${grouped.length === 0 ? '' : ` by ${grouped.join(' and ')}`}`,
    ...all.slice(0, others === 1 ? all.length : NAMES_LIMIT),
    ...(others > 1 ? [`${others} more`] : []),
  ].join(', ')
}

/** The names of the filters whose values the title does not have: they may name people. */
export const otherFilters = ({ texts }: SharedReport): string[] =>
  Object.keys(texts).filter((name) => ![...BILLED_FILTERS, ...NOT_FILTERS, ...TITLED].includes(name))

/** The sum of some groups; null where all of them are unknown. */
export function amountsAdded({ of }: ShownMeasure, results: readonly ShownFigures[]): number | null {
  const known = results.flatMap((result) => of(result) ?? [])
  return known.length === 0 && results.length > 0 ? null : known.reduce((sum, value) => sum + value, 0)
}
