import { Argument, type Command } from 'commander'
import { HOOKED_AGENTS } from '../../agents/install/install.ts'
import { examples } from '../flags/options.ts'
import { hook } from './hook-run.ts'

/** Calls from agents do not come here (see `main.ts`): this command exists for its help. */
export function addAgentsHookCommand(agents: Command): void {
  agents
    .command('hook')
    .description(
      'Called by agents after a session used tokens: queues the session and delivers it in the background. Always exits with 0 within 100 ms and prints nothing',
    )
    .summary('Called by agents after a session used tokens: queues and delivers it')
    .addArgument(new Argument('<agent>', 'agent that runs the hook').choices(HOOKED_AGENTS))
    .argument('[json]', 'session data from the agent (default: standard input)')
    .option('--then <command...>', 'another program to call with the same JSON, because Codex supports only one')
    .addHelpText(
      'after',
      examples(
        'tally agents hook claude-code < hook.json',
        `tally agents hook codex '{"type":"agent-turn-complete","thread-id":"01a1fa18-3e35-7d51-80d0-978a660e9e1f"}'`,
        `tally agents hook codex --then notify-send Codex '{"thread-id":"01a1fa18-3e35-7d51-80d0-978a660e9e1f"}'`,
      ),
    )
    .action(async (agent: string, json: string | undefined, { then }: { then?: string[] }) => {
      await hook([agent, ...(then ? ['--then', ...then] : []), ...(json === undefined ? [] : [json])])
    })
}
