/** `tally agents`: the commands for a developer's machine, whose agents report to a server. */
import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addFlushCommand } from './flush.ts'
import { addHookCommand } from './hook.ts'
import { addInstallCommands } from './install.ts'
import { addLoginCommands } from './login.ts'
import { addScanCommand } from './scan.ts'
import { addStatusCommand } from './status.ts'

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
