/** The roll-up: entries and their sums by column, from which reports and lists read whole days and months at once. */
export { checkRollup } from './check.ts'
export { createRollup } from './job.ts'
export type { Grouping } from './merges.ts'
export { searchEntries } from './search.ts'
export { exactAt, type Figure, SOURCE_KEYS, STATUS_KEYS } from './segment.ts'
export type { Ranked, SearchTask } from './store/search.ts'
export type { SummedColumns } from './sums.ts'
export { SUMS_TASK } from './tasks.ts'
