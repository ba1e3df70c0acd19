import type { Command } from 'commander'
import type { BudgetCheck } from '../../features/budgets/schema.ts'
import { CommandError, EXIT_USED_UP } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { minute, note, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { addScopeFlags, amountText, type ScopeFlags, scopeOf, stateText, upToDate } from './budget.ts'

/** The command line sees all budgets, so nothing of them is null. */
type Checked = BudgetCheck['budgets'][number]

export function addBudgetsCheckCommand(budgets: Command): void {
  addScopeFlags(
    budgets
      .command('check')
      .description(
        'Check whether the budgets that such entries count for leave anything; exit code 3 if one is used up',
      ),
  )
    .option('--json', 'print JSON, as returned by GET /api/v1/budgets/check')
    .addHelpText(
      'after',
      `
For scripts that stop themselves: Tally never stops an agent. Use the flags that apply to what the script is about to do.
${examples(
  'tally budgets check --project ACME && ./nightly-review',
  'tally budgets check --project ACME --ticket ACME-42 --agent-manager ada@example.com',
)}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ScopeFlags>()
      const check = await withServices(flags, async (services) =>
        (await upToDate(services)).check([scopeOf(flags)], null),
      )
      if (flags.json) printJson(check)
      else printCheck(check)
      if (!check.allowed) throw new CommandError(usedUpText(check.budgets), EXIT_USED_UP)
    })
}

function printCheck({ budgets }: BudgetCheck): void {
  if (budgets.length === 0) {
    note('No budget applies.')
    return
  }
  printTable<Checked>(
    [
      { title: 'BUDGET', flows: true, of: ({ name }) => name! },
      { title: 'BASIS', rank: 1, of: ({ basis }) => basis },
      { title: 'SPENT', align: 'right', of: (budget) => amountText(budget, budget.spent!) },
      { title: 'AVAILABLE', align: 'right', of: (budget) => amountText(budget, budget.available!) },
      { title: 'REMAINING', align: 'right', of: (budget) => amountText(budget, budget.remaining!) },
      {
        title: 'COUNTED (UTC)',
        rank: 1,
        of: ({ basis, counted_at }) => (basis === 'cost' ? 'now' : minute(counted_at)),
      },
      { title: 'STATE', of: ({ state }) => stateText({ state, complete: true }) },
      { title: 'ID', of: ({ id }) => id! },
    ],
    budgets,
  )
}

/** Names each budget that leaves nothing. */
function usedUpText(budgets: readonly Checked[]): string {
  return budgets
    .filter(({ remaining }) => /^(-|0$)/.test(JSON.stringify(remaining)))
    .map(
      (budget) =>
        `The budget '${budget.name}' is used up: ${amountText(budget, budget.spent!)} of ${amountText(budget, budget.available!)} spent.`,
    )
    .join('\n')
}
