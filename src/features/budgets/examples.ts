/** Requests and responses of budgets, for the OpenAPI document. */
import type { BudgetAlertBody, BudgetBody, BudgetCheck, BudgetStatus, NewBudget } from './schema.ts'

export const EXAMPLE_NEW_BUDGET: NewBudget = {
  name: 'Acme web, monthly',
  scope: { project: 'ACME' },
  amount: 2500,
  period: 'month',
  thresholds: [
    { percent: 80, leads: true },
    { percent: 100, leads: true, billing: true, emails: ['finance@example.com'] },
  ],
}

export const EXAMPLE_BUDGET: BudgetBody = {
  id: 'bdg_01a1fa172a0277f3983322718874f2ea',
  name: 'Acme web, monthly',
  scope: {
    client: null,
    project: { id: 'prj_01a1fa172a0277f3983322718874f2e1', key: 'ACME', name: 'Acme web' },
    ticket: null,
    agent_manager: null,
    agent_name: null,
    model: null,
    label: null,
  },
  measure: 'cost',
  basis: 'cost',
  amount: 2500,
  period: 'month',
  starts_on: null,
  ends_on: null,
  roll_over: false,
  thresholds: [
    { percent: 80, of: 'spent', leads: true, billing: false, people: [], emails: [], webhooks: [] },
    {
      percent: 100,
      of: 'spent',
      leads: true,
      billing: true,
      people: [],
      emails: ['finance@example.com'],
      webhooks: [],
    },
  ],
  of_project: false,
  created_at: '2026-11-20T17:53:04.000Z',
  archived_at: null,
  current: {
    from: '2026-11-01',
    to: '2026-11-30',
    spent: 2104.5,
    available: 2500,
    state: 'nearly',
    complete: true,
    counted_at: null,
  },
}

export const EXAMPLE_BUDGET_STATUS: BudgetStatus = {
  budget: EXAMPLE_BUDGET,
  period: {
    from: '2026-11-01',
    to: '2026-11-30',
    starting_at: '2026-10-31T23:00:00.000Z',
    ending_at: '2026-11-30T23:00:00.000Z',
  },
  spent: 2104.5,
  available: 2500,
  rolled_over: 0,
  remaining: 395.5,
  percent: 84.1,
  state: 'nearly',
  entries: 412,
  unpriced_entries: 0,
  complete: true,
  counted_at: null,
  entries_url:
    '/api/v1/token-entries?starting_at=2026-10-31T23%3A00%3A00.000Z&ending_at=2026-11-30T23%3A00%3A00.000Z&project=prj_01a1fa172a0277f3983322718874f2e1&status=submitted&status=approved&status=rejected&status=billed&superseded=false',
  forecast: { amount: 2890.25, low: 2710, high: 3070.5, exceeded_on: '2026-11-25', days: 28 },
  days: [{ date: '2026-11-01', spent: 0 }],
  as_of: '2026-11-20T17:53:04.000Z',
}

export const EXAMPLE_BUDGET_ALERT: BudgetAlertBody = {
  id: 'alr_01a1fa172a0277f3983322718874f2eb',
  budget: { id: EXAMPLE_BUDGET.id, name: EXAMPLE_BUDGET.name },
  period: { from: '2026-11-01' },
  of: 'spent',
  percent: 80,
  measure: 'cost',
  basis: 'cost',
  spent: 2004.5,
  available: 2500,
  at: '2026-11-18T09:12:44.000Z',
  notified_at: '2026-11-18T09:12:45.000Z',
}

export const EXAMPLE_BUDGET_CHECK: BudgetCheck = {
  allowed: true,
  complete: true,
  remaining: 395.5,
  remaining_tokens: null,
  budgets: [
    {
      id: EXAMPLE_BUDGET.id,
      name: EXAMPLE_BUDGET.name,
      measure: 'cost',
      basis: 'cost',
      spent: 2104.5,
      available: 2500,
      remaining: 395.5,
      state: 'nearly',
      counted_at: null,
    },
  ],
  left_out: 0,
  as_of: '2026-11-20T17:53:04.000Z',
}
