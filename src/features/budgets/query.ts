/** Parameters of lists of budgets and alerts, and of checks. Pure. */
import { Query, type QueryTexts, readKeyPage } from '../../schema/query.ts'
import { BUDGET_STATES } from './schema.ts'
import type { BudgetListFilter } from './store.ts'

export interface BudgetListQuery {
  filter: BudgetListFilter
  limit: number
  after: number | undefined
}

/** Throws 422 with every issue. */
export function readBudgetList(texts: QueryTexts): BudgetListQuery {
  const query = new Query(texts)
  const read = {
    filter: {
      archived: query.oneOf('archived', ['exclude', 'include', 'only']),
      projects: query.list('project'),
      clients: query.list('client'),
      tickets: query.list('ticket'),
      managers: query.list('agent_manager'),
      states: query.someOf('state', BUDGET_STATES),
    },
    limit: query.limit(),
    after: query.page(readKeyPage),
  }
  query.finish()
  return read
}

/** Throws 422 with every issue. */
export function readAlertList(texts: QueryTexts): {
  budget: string | undefined
  limit: number
  after: number | undefined
} {
  const query = new Query(texts)
  const read = { budget: query.text('budget'), limit: query.limit(), after: query.page(readKeyPage) }
  query.finish()
  return read
}

export const CHECKED = ['client', 'project', 'ticket', 'agent_manager', 'agent_name', 'model', 'label'] as const

/** Throws 422 with every issue. */
export function readBudgetCheck(texts: QueryTexts): { [Name in (typeof CHECKED)[number]]?: string } {
  const query = new Query(texts)
  const read = Object.fromEntries(
    CHECKED.flatMap((name) => {
      const value = query.text(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  query.finish()
  return read
}
