import type { Tables } from '../../database/schema/tables.ts'

export type BudgetRecord = Tables['budgets']['$inferSelect']
export type PeriodRecord = Tables['budgetPeriods']['$inferSelect']
export type AlertRecord = Tables['budgetAlerts']['$inferSelect']
export type ChangeRecord = Tables['budgetChanges']['$inferSelect']

/** A period, without what is spent in it. */
export type KnownPeriod = Pick<PeriodRecord, 'id' | 'startsAt' | 'endsAt' | 'firstDay'>

/** What decides the client of a project, and what its entries are billed for. */
export interface ProjectTerms {
  id: number
  clientId: number | null
  billable: boolean
  /** Its own markup, otherwise that of its client. */
  markupPpm: number | null
}
