import { type Command, Option } from 'commander'
import { log } from '../../agents/journal.ts'
import { reportStatus } from '../../agents/report-status.ts'
import { readAgentsEnvironment } from '../../config.ts'
import { examples } from '../flags/options.ts'
import { statusLine } from './limits-run.ts'
import { agentsServer, isLoggedOut } from './server.ts'

/** Calls by a status line do not come here (see `main.ts`): this command exists for its help and for the sender. */
export function addAgentsLimitsCommand(agents: Command): void {
  agents
    .command('limits')
    .description(
      'Called by the status line of Claude Code, or in it, with its JSON on standard input: prints how much of the five-hour and weekly limits is used, and reports it in the background every five minutes. Always exits with 0',
    )
    .summary('Called by the status line of Claude Code: shows and reports its limits')
    // Started by the status line. It prints nothing.
    .addOption(new Option('--send').hideHelp())
    .addHelpText('after', examples('tally agents limits < status-line.json'))
    .action(async ({ send }: { send?: boolean }) => {
      if (send) return sendLimits()
      await statusLine()
    })
}

/** Its output is not shown: errors go to the log. */
async function sendLimits(): Promise<void> {
  try {
    if (!isLoggedOut({})) await reportStatus(agentsServer({}), [])
  } catch (error) {
    log(readAgentsEnvironment(), `limits were not reported: ${(error as Error).message}`)
  }
}
