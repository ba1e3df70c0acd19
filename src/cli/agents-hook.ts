import { Argument, type Command } from 'commander'
import { HOOKED_AGENTS } from '../agents/install/install.ts'
import { examples } from './options.ts'
import { hook } from './run-hook.ts'

/** Calls as agents make them do not come here (`main.ts`): this tells people what the command is. */
export function addHookCommand(agents: Command): void {
  agents
    .command('hook')
    .description(
      'What an agent calls when a session has used something: notes it in the spool and has it delivered in the background. Always succeeds, within 100 ms, and prints nothing',
    )
    .addArgument(new Argument('<agent>', 'the agent that calls').choices(HOOKED_AGENTS))
    .argument('[json]', 'what the agent says of the session; without it, standard input is read')
    .option('--then <command...>', 'program that is called with the same JSON, as Codex knows only one')
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
