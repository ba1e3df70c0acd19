/** `tally agents`: the commands for a developer's machine, whose agents report to a server. */
import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addAgentsFlushCommand } from './flush.ts'
import { addAgentsHookCommand } from './hook.ts'
import { addAgentsInstallCommands } from './install.ts'
import { addAgentsLimitsCommand } from './limits.ts'
import { addAgentsLoginCommands } from './login.ts'
import { addAgentsScanCommand } from './scan.ts'
import { addAgentsStatusCommand } from './status.ts'
import { addAgentsWatchCommand } from './watch.ts'

export function addAgentsCommands(program: Command): void {
  const agents = program
    .command('agents')
    .description('Report the token usage of the agents on this machine, from their session files or with hooks')
    .addHelpText(
      'after',
      examples(
        'tally agents scan',
        'tally agents login --url http://tally.lan:4747',
        'tally agents install claude-code codex',
        'tally agents watch --install',
        'tally agents status',
      ),
    )
  addAgentsScanCommand(agents)
  addAgentsLoginCommands(agents)
  addAgentsInstallCommands(agents)
  addAgentsWatchCommand(agents)
  addAgentsStatusCommand(agents)
  addAgentsFlushCommand(agents)
  addAgentsHookCommand(agents)
  addAgentsLimitsCommand(agents)
}
