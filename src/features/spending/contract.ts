/** What other features share of spending. */
export { notingChanges } from './noted-changes.ts'
export type { AlertRecord, BudgetRecord, PeriodRecord } from './records.ts'
