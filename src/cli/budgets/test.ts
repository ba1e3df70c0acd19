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
