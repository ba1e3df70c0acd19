/** The rows of a report: each group with its figures in both periods, in order. Pure. */
import type { Sortable } from '../../../shared/report-table.ts'
import { type Chosen, type Dimension, keyOf, labelOf } from '../../parts/usage/dimensions.ts'
import { type MeasureName, measureOf } from '../../parts/usage/measures.ts'
import type { Figures, Result } from '../../parts/usage/usage.ts'

export interface Row {
  key: string
  /** One for each dimension. */
  names: string[]
  chosen: Chosen[]
  /** Null where it is unknown. */
  value: number | null
  /** Of the earlier period; 0 if the group had no entries in it. */
  earlier: number | null
  figures: Figures
}

const NO_FIGURES: Figures = {
  entries: 0,
  tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0, total: 0 },
  cost: 0,
  list_value: 0,
  billed: 0,
  people: 0,
  sessions: 0,
  duration: 0,
  active_seconds: 0,
  untimed_entries: 0,
}

/** Also of groups that exist in the earlier period only. */
export function rowsOf(
  groups: readonly Result[],
  earlier: readonly Result[] | undefined,
  { dimensions, measure }: { dimensions: readonly Dimension[]; measure: MeasureName },
): Row[] {
  const { of } = measureOf(measure)
  const textOf = (result: Result) => JSON.stringify(dimensions.map((dimension) => keyOf(result, dimension)))
  const before = new Map(earlier?.map((result) => [textOf(result), result]))
  const known = new Set(groups.map(textOf))
  const rowOf = (result: Result, figures: Figures): Row => {
    const then = before.get(textOf(result))
    return {
      key: textOf(result),
      names: dimensions.map((dimension) => labelOf(result, dimension)),
      chosen: dimensions.map((dimension) => [dimension, keyOf(result, dimension)] as const),
      value: of(figures),
      earlier: then ? of(then) : 0,
      figures,
    }
  }
  const gone = earlier?.filter((result) => !known.has(textOf(result))) ?? []
  return [...groups.map((result) => rowOf(result, result)), ...gone.map((result) => rowOf(result, NO_FIGURES))]
}

export const sortableOf = ({ names, value, earlier, figures }: Row): Sortable => ({
  ...{ names, value, earlier, cost: figures.cost, tokens: figures.tokens.total, entries: figures.entries },
})
