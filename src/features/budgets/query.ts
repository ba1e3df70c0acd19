/** Parameters of lists of budgets and alerts, and of checks. Pure. */
import { queryReader, readKeyPage } from '../../schema/query.ts'
import { BUDGET_STATES } from './schema.ts'

export const readBudgetList = queryReader((query) => ({
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
}))

export const readAlertList = queryReader((query) => ({
  budget: query.text('budget'),
  limit: query.limit(),
  after: query.page(readKeyPage),
}))

export const CHECKED = ['client', 'project', 'ticket', 'agent_manager', 'agent_name', 'model', 'label'] as const

export const readBudgetCheck = queryReader((query): { [Name in (typeof CHECKED)[number]]?: string } =>
  Object.fromEntries(
    CHECKED.flatMap((name) => {
      const value = query.text(name)
      return value === undefined ? [] : [[name, value]]
    }),
  ),
)
