import type { Command } from 'commander'
import { archiveBudget, restoreBudget } from '../../features/budgets/operations/budgets.ts'
import { examples } from '../flags/options.ts'
import { addAction } from '../operations.ts'
import { addBudgetsAddCommand } from './add.ts'
import { EXAMPLE_ID } from './budget.ts'
import { addBudgetsChangeCommand } from './change.ts'
import { addBudgetsCheckCommand } from './check.ts'
import { addBudgetsAlertsCommand, addBudgetsListCommand } from './list.ts'
import { addBudgetsShowCommand } from './show.ts'
import { addBudgetsTestCommand } from './test.ts'

export function addBudgetsCommands(program: Command): void {
  const budgets = program
    .command('budgets')
    .description('Manage budgets: how much may be spent in a period, what is spent, and who is notified')
    .addHelpText(
      'after',
      examples(
        'tally budgets add --client "Acme Ltd" --amount 2500 --threshold 80=leads',
        'tally budgets list',
        'tally budgets check --project ACME',
      ),
    )
  addBudgetsListCommand(budgets)
  addBudgetsAddCommand(budgets)
  addBudgetsChangeCommand(budgets)
  addBudgetsShowCommand(budgets)
  addAction(budgets, archiveBudget, {
    name: 'archive',
    description: 'Archive a budget: it is kept with its alerts, but counts nothing and causes no more',
    subject: 'budget',
    examples: [`tally budgets archive ${EXAMPLE_ID}`],
    show: ({ name }) => `Archived ${name}.`,
  })
  addAction(budgets, restoreBudget, {
    name: 'restore',
    description: 'Restore an archived budget, and count its entries again',
    subject: 'budget',
    examples: [`tally budgets restore ${EXAMPLE_ID}`],
    show: ({ name }) => `Restored ${name}.`,
  })
  addBudgetsAlertsCommand(budgets)
  addBudgetsCheckCommand(budgets)
  addBudgetsTestCommand(budgets)
}
