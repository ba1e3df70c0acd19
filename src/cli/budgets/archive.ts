import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { BUDGET, EXAMPLE_ID } from './budget.ts'

/** `tally budgets archive` and `restore`. */
export function addBudgetsArchiveCommands(budgets: Command): void {
  const add = (name: 'archive' | 'restore', description: string, done: string) =>
    budgets
      .command(name)
      .description(description)
      .argument('<budget>', BUDGET)
      .option('--json', 'print JSON')
      .addHelpText('after', examples(`tally budgets ${name} ${EXAMPLE_ID}`))
      .action((id: string, _flags, command: Command) =>
        act(
          command,
          ({ budgets }, { by }) => budgets.archiveBudget(id, name === 'archive', { by }),
          (budget) => budget,
          (budget) => print(`${done} ${budget.name}.`),
        ),
      )
  add('archive', 'Archive a budget: it is kept with its alerts, but counts nothing and causes no more', 'Archived')
  add('restore', 'Restore an archived budget, and count its entries again', 'Restored')
}
