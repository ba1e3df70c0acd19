/** What the address of a report contains: all of it, so that it can be copied, saved and opened again. */
import { CHART_KINDS } from '../../../shared/charts/layout.ts'
import { COMPARISONS, ORDERS, SORTS } from '../../../shared/report-table.ts'
import { one, oneOf } from '../../address.ts'
import { FILTERS } from '../../parts/entries/filters.ts'
import { readDimension } from '../../parts/usage/dimensions.ts'
import { MEASURE_NAMES } from '../../parts/usage/measures.ts'
import { readBasis } from '../../server/cost-basis.ts'

export const CHARTS = [...CHART_KINDS, 'none'] as const
/** The question, without its filters. */
export const QUESTION = {
  measure: oneOf(...MEASURE_NAMES),
  basis: readBasis,
  by: readDimension,
  second: readDimension,
  bucket: one,
  chart: oneOf(...CHARTS),
  compare: oneOf(...COMPARISONS),
}

export const REPORTS_ADDRESS = {
  ...FILTERS,
  ...QUESTION,
  sort: oneOf(...SORTS),
  order: oneOf(...ORDERS),
  search: one,
  /** The id of the saved view that was opened. */
  view: one,
}
