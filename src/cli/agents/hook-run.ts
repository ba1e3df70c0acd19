/**
 * `tally agents hook`, as agents call it. Whatever this module, `main.ts` and `config.ts` import statically keeps an agent
 * waiting, so the other commands are imported where they are used.
 */
import { runHook } from '../../agents/hook.ts'
import { namedServer, readAgentsEnvironment } from '../../config.ts'
import { selfCommand } from './self.ts'

/** The arguments after `tally agents hook`; undefined for other commands and for `--help`. */
export function hookArguments(args: readonly string[]): string[] | undefined {
  const [agents, hook, ...rest] = args
  const isHelp = rest[0] === undefined || [rest[0], rest[1]].some((arg) => arg === '-h' || arg === '--help')
  return agents === 'agents' && hook === 'hook' && !isHelp ? rest : undefined
}

/** Returns the exit code, which is always 0: an agent may stop for any other. */
export async function hook(args: string[]): Promise<number> {
  await runHook({
    args,
    environment: readAgentsEnvironment(),
    server: namedServer(),
    sender: [...selfCommand(), 'agents', 'flush', '--background'],
    input: () => Bun.stdin.stream(),
  })
  return 0
}
