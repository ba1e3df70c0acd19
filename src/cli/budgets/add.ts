import type { Command } from 'commander'
import type { NewBudget } from '../../features/budgets/schema.ts'
import { act } from '../act.ts'
import { checked } from '../flags/body.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { addBudgetFlags, addLastingFlags, addScopeFlags, type BudgetFlags, fieldsOf, scopeOf } from './budget.ts'
import { THRESHOLD_HELP, thresholdsOf } from './threshold.ts'

export function addBudgetsAddCommand(budgets: Command): void {
  const add = budgets
    .command('add')
    .description('Add a budget of the entries that match all of the given flags; of all entries without any')
    .requiredOption('--amount <amount>', 'US dollars or tokens, per period')
    .option('--name <name>', 'name (default: what the budget is for)')
  addBudgetFlags(addLastingFlags(addScopeFlags(add)))
    .addHelpText(
      'after',
      `${THRESHOLD_HELP}${examples(
        'tally budgets add --client "Acme Ltd" --amount 2500',
        'tally budgets add --project ACME --amount 800 --threshold 80=leads --threshold 100=leads,finance@example.com',
        'tally budgets add --agent-manager ada@example.com --measure tokens --amount 50000000 --period week',
        'tally budgets add --amount 20000 --period quarter --roll-over yes --forecast-threshold 100=billing',
      )}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<BudgetFlags>()
      const { measure, period } = flags
      const { NewBudget: schema } = await import('../../features/budgets/schema.ts')
      const given = { ...fieldsOf(flags), measure, period, scope: scopeOf(flags) }
      await act(
        command,
        async (services, { by }) => {
          const body = await checked(schema, { ...given, thresholds: await thresholdsOf(flags, services) })
          return services.budgets.addBudget(body as NewBudget, { by })
        },
        (budget) => budget,
        ({ name, id }) => print(`Added ${name}: ${id}`),
      )
    })
}
