import { BUDGET_MEASURES, BUDGET_PERIODS } from '../../../database/schema/values.ts'
import { COST_BASES } from '../../../shared/cost-basis.ts'
import { choice, decimal, flag, integer, json, moment, orNone, ownId, reference, text } from '../columns.ts'
import { kind } from '../kind.ts'

export const BUDGET = kind({
  type: 'budget',
  table: 'budgets',
  order: ['id'],
  fields: {
    id: ownId('bdg'),
    name: text('name'),
    client: orNone(reference('clientId', 'clients')),
    project: orNone(reference('projectId', 'projects')),
    ticket: orNone(reference('ticketId', 'tickets')),
    agent_manager: orNone(reference('managerId', 'users')),
    agent_name: orNone(text('agentName')),
    model: orNone(text('model')),
    label_name: orNone(text('labelName')),
    label_value: orNone(text('labelValue')),
    measure: choice('measure', BUDGET_MEASURES),
    basis: choice('basis', COST_BASES),
    // Nano-dollars, or tokens.
    amount: decimal('amount', 0),
    period: choice('period', BUDGET_PERIODS),
    first_day: orNone(text('firstDay')),
    last_day: orNone(text('lastDay')),
    roll_over: flag('rollOver'),
    thresholds: json('thresholds'),
    of_project: flag('ofProject'),
    version: integer('version', 1),
    created_at: moment('createdAt'),
    created_by: orNone(reference('createdBy', 'users')),
    archived_at: orNone(moment('archivedAt')),
  },
})

export const BUDGET_ALERT = kind({
  type: 'budget_alert',
  table: 'budgetAlerts',
  order: ['id'],
  fields: {
    id: ownId('alr'),
    budget: reference('budgetId', 'budgets'),
    version: integer('version', 1),
    first_day: text('firstDay'),
    kind: choice('kind', ['spent', 'forecast']),
    percent: integer('percent', 1),
    spent: text('spent'),
    available: text('available'),
    at: moment('at'),
    notified_at: orNone(moment('notifiedAt')),
  },
})
