import { operation, result, several } from '../../../operations/operation.ts'
import { choiceParameter, listParameter, paging, textParameter } from '../../../operations/parameters.ts'
import {
  EXAMPLE_BUDGET,
  EXAMPLE_BUDGET_ALERT,
  EXAMPLE_BUDGET_CHECK,
  EXAMPLE_BUDGET_STATUS,
  EXAMPLE_NEW_BUDGET,
} from '../examples.ts'
import { readAlertList, readBudgetCheck, readBudgetList } from '../query.ts'
import {
  BUDGET_STATES,
  BudgetAlertList,
  BudgetBody,
  BudgetChange,
  BudgetCheck,
  BudgetList,
  BudgetStatus,
  BudgetTest,
  NewBudget,
} from '../schema.ts'
import type { BudgetsService } from '../service.ts'

interface Needs {
  budgets: BudgetsService
}

/** Like bills and prices, budgets are for those who answer for money. */
const CHANGING = { tag: 'Budgets', allow: { session: ['billing', 'admin'] }, scope: 'budgets:write' } as const
const READING = { tag: 'Budgets', allow: ['read', 'session'], scope: 'budgets:read' } as const

const params = { id: 'Id of the budget (bdg_…).' }
const one = { object: 'bdg', params } as const

const BUDGET = result('The budget.', BudgetBody, EXAMPLE_BUDGET)

const SEEN =
  'Billing and admins see all budgets, others those of their own entries and of projects and clients that they lead. Budgets by allocated cost are for those who see fees.'

export const listBudgets = operation({
  ...READING,
  id: 'listBudgets',
  method: 'GET',
  path: '/budgets',
  summary: 'List budgets',
  description: `Newest first, with what is spent in the current period. ${SEEN}`,
  query: {
    project: listParameter('Only budgets of these projects: id, key, name or alias.'),
    client: listParameter('Only budgets of these clients: id or name.'),
    ticket: listParameter('Only budgets of these tickets: id or key.'),
    agent_manager: listParameter('Only budgets of these people: id or e-mail address.'),
    state: listParameter(
      'Only active budgets whose current period is counted and in one of these states: `within`, `nearly` (from 80%) or `exceeded`.',
      { type: 'string', enum: [...BUDGET_STATES] },
    ),
    archived: choiceParameter(
      ['exclude', 'include', 'only'],
      'Whether archived budgets are listed. Default: `exclude`.',
    ),
    ...paging('Budgets'),
  },
  answer: several('A page of budgets.', BudgetList, EXAMPLE_BUDGET),
  run: ({ budgets }: Needs, { party, asker, query }) =>
    budgets.listBudgets(party.viewer, readBudgetList(query), asker.listsPeople),
})

const addBudget = operation({
  ...CHANGING,
  id: 'addBudget',
  method: 'POST',
  path: '/budgets',
  summary: 'Add a budget',
  description:
    'Entries that exist already are counted within seconds. A threshold that is already reached in the current period then causes its alert at once.',
  body: NewBudget,
  example: EXAMPLE_NEW_BUDGET,
  answer: {
    ...BUDGET,
    status: 201,
    description: 'The budget was added.',
    example: { ...EXAMPLE_BUDGET, current: { ...EXAMPLE_BUDGET.current, spent: 0, state: 'within', complete: false } },
  },
  problems: ['fees_hidden'],
  run: async ({ budgets }: Needs, { party, body }) => {
    await budgets.requireBasis(party.viewer, body.basis)
    return budgets.addBudget(body, party)
  },
})

const checkBudgets = operation({
  ...READING,
  id: 'checkBudgets',
  method: 'GET',
  path: '/budgets/check',
  summary: 'Check whether budgets leave anything',
  description: `For scripts that stop themselves: whether entries of this project, person and so on still fit into the budgets that they count for. Budgets by another basis than cost say when they were counted. ${SEEN}`,
  query: {
    client: textParameter('Id or name of a client.'),
    project: textParameter('Id, key, name or alias of a project.'),
    ticket: textParameter('Id or key of a ticket.'),
    agent_manager: textParameter('Id or e-mail address of a person. Default: nobody.'),
    agent_name: textParameter('Name of an agent.'),
    model: textParameter('Name of a model.'),
    label: textParameter('`name:value`, such as `repository:acme/web`.'),
  },
  answer: result('What is left.', BudgetCheck, EXAMPLE_BUDGET_CHECK),
  run: ({ budgets }: Needs, { asker, query }) => budgets.check([readBudgetCheck(query)], asker),
})

export const listBudgetAlerts = operation({
  ...READING,
  id: 'listBudgetAlerts',
  method: 'GET',
  path: '/budgets/alerts',
  summary: 'List alerts of budgets',
  description: `Newest first. ${SEEN}`,
  query: { budget: textParameter('Only alerts of this budget.'), ...paging('Alerts') },
  answer: several('A page of alerts.', BudgetAlertList, EXAMPLE_BUDGET_ALERT),
  problems: ['not_found'],
  run: ({ budgets }: Needs, { party, query }) => budgets.listAlerts(party.viewer, readAlertList(query)),
})

const getBudget = operation({
  ...READING,
  ...one,
  id: 'getBudget',
  method: 'GET',
  path: '/budgets/:id',
  summary: 'Get a budget',
  description: 'As in the list, with what is spent in the current period.',
  answer: BUDGET,
  run: ({ budgets }: Needs, call) => budgets.getBudget(call.params.id, call.party.viewer),
})

const changeBudget = operation({
  ...CHANGING,
  ...one,
  id: 'changeBudget',
  method: 'PATCH',
  path: '/budgets/:id',
  summary: 'Update a budget',
  description:
    'Absent fields stay unchanged. With another amount, scope or time, every threshold can be reached again. A new threshold that is already reached in the current period causes its alert at once. Measure, basis and period cannot change: add another budget. Of the budget of a project (`of_project`), only the name, the amount and the thresholds can change.',
  body: BudgetChange,
  example: { amount: 3000 },
  answer: BUDGET,
  run: async ({ budgets }: Needs, call) => {
    await budgets.requireSeen(call.params.id, call.party.viewer)
    return budgets.changeBudget(call.params.id, call.body, call.party)
  },
})

const getBudgetStatus = operation({
  ...READING,
  id: 'getBudgetStatus',
  method: 'GET',
  path: '/budgets/:id/status',
  summary: 'Get what is spent of a budget',
  description: 'Of the current period, otherwise of the latest, with a forecast for its end.',
  params,
  answer: result('The status.', BudgetStatus, EXAMPLE_BUDGET_STATUS),
  problems: ['database_deadline'],
  run: ({ budgets }: Needs, call) => budgets.getStatus(call.params.id, call.party.viewer),
})

export const archiveBudget = operation({
  ...CHANGING,
  ...one,
  id: 'archiveBudget',
  method: 'POST',
  path: '/budgets/:id/archive',
  summary: 'Archive a budget',
  description: 'It is kept with its alerts, but causes no more.',
  answer: {
    ...BUDGET,
    description: 'The archived budget.',
    example: { ...EXAMPLE_BUDGET, archived_at: '2026-12-01T08:00:00.000Z', current: null },
  },
  run: async ({ budgets }: Needs, call) => {
    await budgets.requireSeen(call.params.id, call.party.viewer)
    return budgets.archiveBudget(call.params.id, true, call.party)
  },
})

export const restoreBudget = operation({
  ...CHANGING,
  ...one,
  id: 'restoreBudget',
  method: 'POST',
  path: '/budgets/:id/restore',
  summary: 'Restore an archived budget',
  answer: BUDGET,
  run: async ({ budgets }: Needs, call) => {
    await budgets.requireSeen(call.params.id, call.party.viewer)
    return budgets.archiveBudget(call.params.id, false, call.party)
  },
})

const testBudget = operation({
  ...CHANGING,
  id: 'testBudget',
  method: 'POST',
  path: '/budgets/:id/test',
  summary: 'Send a test alert',
  description:
    'By e-mail, at once, to everyone whom a threshold of the budget names and who has not turned alerts off. Returns whose e-mails the mail server accepted.',
  params,
  answer: result('The test alert was sent.', BudgetTest, { recipients: ['finance@example.com'], failed: [] }),
  problems: ['mail_not_set_up'],
  run: async ({ budgets }: Needs, call) => {
    await budgets.requireSeen(call.params.id, call.party.viewer)
    return budgets.test(call.params.id)
  },
})

export const budgetOperations = [
  listBudgets,
  addBudget,
  checkBudgets,
  listBudgetAlerts,
  getBudget,
  changeBudget,
  getBudgetStatus,
  archiveBudget,
  restoreBudget,
  testBudget,
] as const
