import type { Command } from 'commander'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { BUDGET, EXAMPLE_ID } from './budget.ts'

export function addBudgetsTestCommand(budgets: Command): void {
  budgets
    .command('test')
    .description('Send a test alert by e-mail to everybody whom a threshold of a budget names')
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
      if (tested.recipients.length === 0) {
        throw new CommandError(
          `No e-mail was sent: no threshold notifies anybody by e-mail, or the mail server refused every address. \`tally budgets show ${id}\` lists the thresholds.`,
        )
      }
      if (!flags.json) print(`Sent a test alert to ${tested.recipients.join(', ')}.`)
    })
}
