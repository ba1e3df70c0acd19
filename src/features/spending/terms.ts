/** What decides where entries count, read from the database. */
import type { Reader } from '../../database/database.ts'
import type { Calendar } from '../../shared/calendar-periods.ts'
import { type BudgetTerms, type KnownBudget, termsOf } from './spending.ts'
import { listProjectTerms } from './store/periods.ts'

/** The terms of these budgets. */
export async function readTerms(
  reader: Reader,
  budgets: readonly KnownBudget[],
  circumstances: Calendar & { markupPpm: number | null },
): Promise<BudgetTerms> {
  const dependOnProjects = budgets.some(({ clientId, measure }) => clientId !== null || measure === 'billed_amount')
  return termsOf(budgets, dependOnProjects ? await listProjectTerms(reader) : [], circumstances)
}
