/** What other features share of spending. */
export { amountOf, decimalOf, leftOf, markedUp, millionthsOf, reaches, type Spending, unitsOf } from './amount.ts'
export { BudgetIndex } from './matching.ts'
export { notingChanges } from './noted-changes.ts'
export { firstDayOf, hasEnd, hasStart, NO_FIRST_DAY, nextPeriod, periodAt } from './period.ts'
export type { AlertRecord, BudgetRecord, PeriodRecord } from './records.ts'
export { type BudgetTerms, contribution, type Side } from './spending.ts'
