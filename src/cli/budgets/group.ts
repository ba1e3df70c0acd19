import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addBudgetsAddCommand } from './add.ts'
import { addBudgetsAlertsCommand } from './alerts.ts'
import { addBudgetsArchiveCommands } from './archive.ts'
import { addBudgetsChangeCommand } from './change.ts'
import { addBudgetsCheckCommand } from './check.ts'
import { addBudgetsListCommand } from './list.ts'
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
  addBudgetsArchiveCommands(budgets)
  addBudgetsAlertsCommand(budgets)
  addBudgetsCheckCommand(budgets)
  addBudgetsTestCommand(budgets)
}
