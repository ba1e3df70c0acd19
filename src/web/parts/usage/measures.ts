/** How what a report measures reads. Pure. */
import { MEASURES, type MeasureName } from '../../../shared/measures.ts'
import { AMOUNTS, type AmountFormat } from '../charts/series.ts'

export { MEASURE_NAMES, MEASURES, type MeasureName, measureOf } from '../../../shared/measures.ts'

export const formatOf = (name: MeasureName): AmountFormat => AMOUNTS[MEASURES[name].unit]
