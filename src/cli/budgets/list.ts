/** `tally budgets list` and `alerts`. */
import type { Command } from 'commander'
import { listBudgetAlerts, listBudgets } from '../../features/budgets/operations/budgets.ts'
import type { BudgetBody } from '../../features/budgets/schema.ts'
import { moneyNanos } from '../../lib/money.ts'
import { addListing } from '../operations.ts'
import { minute } from '../terminal/print.ts'
import { archivedText, listedText } from '../work-commands.ts'
import { amountText, EXAMPLE_ID, measureText, scopeText, stateText, upToDate } from './budget.ts'

export function addBudgetsListCommand(budgets: Command): void {
  addListing(budgets, listBudgets, {
    description: 'List budgets, newest first, with what is spent in the current period',
    flags: {
      project: '--project <project>',
      client: '--client <client>',
      ticket: '--ticket <ticket>',
      agent_manager: '--agent-manager <person>',
      state: { flag: '--state <state>', doc: 'within, nearly (from 80%) or exceeded' },
      archived: [
        { flag: '--archived', doc: 'only archived budgets', value: 'only' },
        { flag: '--all', doc: 'include archived budgets', value: 'include' },
      ],
    },
    examples: [
      'tally budgets list',
      'tally budgets list --state nearly,exceeded',
      'tally budgets list --client "Acme Ltd" --json',
    ],
    prepare: upToDate,
    columns: [
      { title: 'NAME', of: ({ name }) => name },
      {
        title: 'COUNTS',
        rank: 1,
        of: (budget) => `${budget.basis === 'cost' ? '' : `${measureText(budget)} of `}${scopeText(budget.scope)}`,
      },
      { title: 'PERIOD', rank: 1, of: periodText },
      { title: 'SPENT', align: 'right', of: (budget) => amountOf(budget, 'spent') },
      { title: 'AVAILABLE', align: 'right', of: (budget) => amountOf(budget, 'available') },
      { title: 'USED', align: 'right', of: usedText },
      {
        title: 'STATE',
        of: ({ archived_at, current }) => archivedText(archived_at) ?? (current ? stateText(current) : '–'),
      },
      { title: 'ID', of: ({ id }) => id },
    ],
    listed: (flags) => listedText(flags, 'budgets'),
    howToAdd: 'Add one with `tally budgets add --amount 2500`.',
  })
}

export function addBudgetsAlertsCommand(budgets: Command): void {
  addListing(budgets, listBudgetAlerts, {
    name: 'alerts',
    plural: 'alerts',
    description: 'List alerts of budgets, newest first',
    paged: true,
    flags: { budget: { flag: '--budget <budget>', doc: 'only alerts of this budget (bdg_…)' } },
    examples: ['tally budgets alerts', `tally budgets alerts --budget ${EXAMPLE_ID} --json`],
    prepare: upToDate,
    columns: [
      { title: 'WHEN (UTC)', of: ({ at }) => minute(at) },
      { title: 'BUDGET', of: ({ budget }) => budget.name },
      { title: 'PERIOD FROM', rank: 1, of: ({ period }) => period.from ?? '–' },
      { title: 'THRESHOLD', of: ({ of, percent }) => (of === 'forecast' ? `forecast of ${percent}%` : `${percent}%`) },
      { title: 'AMOUNT', align: 'right', of: (alert) => amountText(alert, alert.spent) },
      { title: 'AVAILABLE', align: 'right', of: (alert) => amountText(alert, alert.available) },
      { title: 'NOTIFIED (UTC)', rank: 1, of: ({ notified_at }) => minute(notified_at) },
      { title: 'BUDGET ID', rank: 2, of: ({ budget }) => budget.id },
    ],
    howToAdd: 'An alert is created when a threshold of a budget is reached.',
  })
}

function periodText({ period, current, archived_at }: BudgetBody): string {
  if (!current) return archived_at === null ? `${period}, not now` : period
  return current.from === null && current.to === null
    ? period
    : `${period}, ${current.from ?? ''} – ${current.to ?? ''}`
}

function amountOf(budget: BudgetBody, name: 'spent' | 'available'): string {
  return budget.current ? amountText(budget, budget.current[name]) : '–'
}

/** Rounded down, because nothing is shown as used up before it is. */
function usedText({ current }: BudgetBody): string {
  if (!current) return '–'
  const [spent, available] = [moneyNanos(current.spent), moneyNanos(current.available)]
  return available === 0n ? '–' : `${(spent * 100n) / available}%`
}
