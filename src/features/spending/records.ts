import type { Tables } from '../../database/schema/tables.ts'

export type BudgetRecord = Tables['budgets']['$inferSelect']
export type PeriodRecord = Tables['budgetPeriods']['$inferSelect']
export type AlertRecord = Tables['budgetAlerts']['$inferSelect']
export type ChangeRecord = Tables['budgetChanges']['$inferSelect']
