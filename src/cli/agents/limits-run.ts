/**
 * `tally agents limits`, as a status line calls it. As for hooks, the other commands are imported where they are used: the
 * status line is waiting.
 */
import { readInput } from '../../agents/hook.ts'
import { runStatusLine } from '../../agents/status-line.ts'
import { readAgentsEnvironment } from '../../config.ts'
import { selfCommand } from './self.ts'

/** Returns the exit code, which is always 0: a status line shows nothing for any other. */
export async function statusLine(): Promise<number> {
  const text = runStatusLine({
    environment: readAgentsEnvironment(),
    input: process.stdin.isTTY ? '{}' : await readInput(Bun.stdin.stream()),
    now: Date.now(),
    send: () =>
      Bun.spawn([...selfCommand(), 'agents', 'limits', '--send'], {
        detached: true,
        stdio: ['ignore', 'ignore', 'ignore'],
      }).unref(),
  })
  if (text !== '') process.stdout.write(`${text}\n`)
  return 0
}
