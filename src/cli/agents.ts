/** `tally agents`: the commands for a developer's machine, whose agents report to a server. */
import type { Command } from 'commander'
import { addFlushCommand } from './agents-flush.ts'
import { addHookCommand } from './agents-hook.ts'
import { addInstallCommands } from './agents-install.ts'
import { addLoginCommands } from './agents-login.ts'
import { addScanCommand } from './agents-scan.ts'
import { addStatusCommand } from './agents-status.ts'
import { examples } from './options.ts'

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
        'tally agents status',
      ),
    )
  addScanCommand(agents)
  addLoginCommands(agents)
  addInstallCommands(agents)
  addStatusCommand(agents)
  addFlushCommand(agents)
  addHookCommand(agents)
}
