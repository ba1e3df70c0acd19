import type { Command } from 'commander'
import type { BudgetBody, BudgetChange } from '../../features/budgets/schema.ts'
import { act } from '../act.ts'
import { checked } from '../flags/body.ts'
import { examples, requireFields, textOrNone } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { addBudgetFlags, addScopeFlags, BUDGET, type BudgetFlags, EXAMPLE_ID, fieldsOf, scopeOf } from './budget.ts'
import { THRESHOLD_HELP, thresholdsOf } from './threshold.ts'

export function addBudgetsChangeCommand(budgets: Command): void {
  const change = budgets
    .command('change')
    .description('Change a budget; none clears a field. With another amount, scope or time, alerts can occur again')
    .argument('<budget>', BUDGET)
    .option('--name <name>', 'new name')
    .option('--amount <amount>', 'US dollars or tokens, per period')
  addBudgetFlags(addScopeFlags(change, { clearable: true }))
    .addHelpText(
      'after',
      `${THRESHOLD_HELP}Measure, basis and period cannot change: archive the budget and add another.
${examples(
  `tally budgets change ${EXAMPLE_ID} --amount 3000`,
  `tally budgets change ${EXAMPLE_ID} --threshold 90=leads,billing --threshold 100`,
)}`,
    )
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<BudgetFlags>()
      const { threshold, forecastThreshold } = flags
      const fields = fieldsOf(flags)
      const scope = scopeOf(flags)
      const isScoped = Object.keys(scope).length > 0
      requireFields({ ...fields, ...scope, threshold, forecastThreshold }, command)
      const { BudgetChange: schema } = await import('../../features/budgets/schema.ts')
      await act(
        command,
        async (services, { by }) => {
          const body = await checked(schema, {
            ...fields,
            scope: isScoped ? changedScope((await services.budgets.getBudget(id, null)).scope, scope) : undefined,
            thresholds: await thresholdsOf(flags, services),
          })
          return services.budgets.changeBudget(id, body as BudgetChange, { by })
        },
        (budget) => budget,
        ({ name }) => print(`Changed ${name}.`),
      )
    })
}

/**
 * The API replaces a scope as a whole: leaving out a part of it would silently count more entries. None clears a part.
 */
function changedScope(
  { client, project, ticket, agent_manager, ...texts }: BudgetBody['scope'],
  given: ReturnType<typeof scopeOf>,
) {
  return {
    client: client?.id,
    project: project?.id,
    ticket: ticket?.id,
    agent_manager: agent_manager?.id,
    ...texts,
    ...Object.fromEntries(Object.entries(given).map(([name, text]) => [name, textOrNone(text)])),
  }
}
