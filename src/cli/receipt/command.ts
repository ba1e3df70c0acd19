/** `tally receipt`: what a branch, pull request or ticket has cost, from the server or from this machine's session files. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { NANO_DIGITS, type Nanos, parseDecimal } from '../../lib/money.ts'
import { COST_BASES } from '../../shared/cost-basis.ts'
import { examples, optionOf } from '../flags/options.ts'
import { RECEIPT_FORMATS, type ReceiptFlags } from './flags.ts'

function readMax(text: string): Nanos {
  const max = parseDecimal(text.replace(/^\$/, ''), NANO_DIGITS)
  if (max === undefined || max < 0n) throw new InvalidArgumentError('Use an amount of US dollars, such as 25 or 12.50.')
  return max
}

export function addReceiptCommand(program: Command): void {
  program
    .command('receipt')
    .description('Show what the agents’ work on a branch, pull request or ticket has cost')
    .option('--since <ref>', 'only sessions since the branch left this one, such as main or origin/main')
    .option('--branch <name>', 'branch (default: that of the pipeline, or the one that is checked out)')
    .option('--repository <name>', 'repository, such as acme/web (default: that of the remote)')
    .addOption(
      new Option('--ticket <key>', 'what a ticket has cost, on any branch').conflicts([
        'since',
        'branch',
        'repository',
      ]),
    )
    .addOption(new Option('--basis <basis>', 'cost basis (default cost)').choices(COST_BASES))
    .option('--people', 'also list the cost by agent manager')
    .option('--max <usd>', 'exit with code 3 if the cost is more, and with code 4 if that is not known', readMax)
    .option('--local', 'read the session files of this machine, even if a server is set')
    .addOption(new Option('--format <format>', 'text, markdown or json (default text)').choices(RECEIPT_FORMATS))
    .option('--output <file>', 'write it to a file instead of printing it')
    .addOption(optionOf('url'))
    .addOption(optionOf('readTokenFile'))
    .addHelpText(
      'after',
      `
Asks the server of TALLY_URL or \`tally agents login\` with the read token in TALLY_READ_TOKEN or, in pipelines
of GitHub and GitLab, with the ID token of the job. Without a server, or without a read token for the server of
the login, it counts the session files on this machine.
In pipelines of GitHub and GitLab, the default branch is that of the pull or merge request.

Exit code 3: the cost is more than --max. Exit code 4: something is not included, because it has no price or
could not be read. The receipt is printed in both cases.
${examples(
  'tally receipt --since main',
  'tally receipt --since origin/main --max 25 --format markdown --output receipt.md',
  'tally receipt --ticket ACME-42 --people',
)}`,
    )
    .action(async (_flags, command: Command) => {
      const { runReceipt } = await import('./run.ts')
      await runReceipt(command.optsWithGlobals<ReceiptFlags>())
    })
}
