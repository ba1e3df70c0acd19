import type { Command } from 'commander'
import { archiveBudget, restoreBudget } from '../../features/budgets/operations/budgets.ts'
import type { NewBudget } from '../../features/budgets/schema.ts'
import { act } from '../act.ts'
import { CommandError } from '../failures.ts'
import { checked } from '../flags/body.ts'
import { examples } from '../flags/options.ts'
import { addAction } from '../operations.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import {
  addBudgetFlags,
  addLastingFlags,
  addScopeFlags,
  BUDGET,
  type BudgetFlags,
  basisOf,
  EXAMPLE_ID,
  fieldsOf,
  scopeOf,
} from './budget.ts'
import { addBudgetsChangeCommand } from './change.ts'
import { addBudgetsCheckCommand } from './check.ts'
import { addBudgetsAlertsCommand, addBudgetsListCommand } from './list.ts'
import { addBudgetsShowCommand } from './show.ts'
import { THRESHOLD_HELP, thresholdsOf } from './threshold.ts'

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

function addBudgetsTestCommand(budgets: Command): void {
  budgets
    .command('test')
    .description('Send a test alert by e-mail to everyone whom a threshold of a budget names')
    .argument('<budget>', BUDGET)
    .option('--json', 'print JSON, as returned by POST /api/v1/budgets/{id}/test')
    .addHelpText(
      'after',
      `\nIt needs the same variables of the mail server as \`tally serve\`.\n${examples(`tally budgets test ${EXAMPLE_ID}`)}`,
    )
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const tested = await withServices(flags, ({ budgets }) => budgets.test(id))
      if (flags.json) printJson(tested)
      if (tested.failed.length > 0) {
        const failed = tested.failed.map(({ email, answer }) => `${email} (${answer})`).join(', ')
        const others = tested.recipients.length === 0 ? '' : ` It was sent to ${tested.recipients.join(', ')}.`
        throw new CommandError(`The mail server did not accept the test alert for ${failed}.${others}`)
      }
      if (tested.recipients.length === 0) {
        throw new CommandError(
          `No e-mail was sent, because no threshold notifies anybody who wants alerts by e-mail. \`tally budgets show ${id}\` lists the thresholds.`,
        )
      }
      if (!flags.json) print(`Sent a test alert to ${tested.recipients.join(', ')}.`)
    })
}

function addBudgetsAddCommand(budgets: Command): void {
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
          const body = await checked(schema, {
            ...given,
            basis: await basisOf(flags, services),
            thresholds: await thresholdsOf(flags, services),
          })
          return services.budgets.addBudget(body as NewBudget, { by })
        },
        (budget) => budget,
        ({ name, id }) => print(`Added ${name}: ${id}`),
      )
    })
}
