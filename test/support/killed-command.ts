import { expect } from 'bun:test'
import type { CommandLine } from './command-line.ts'
import { isLong } from './tier.ts'

/**
 * Kills a command after ever longer times, until it ends by itself. Returns how often it was killed. The times double,
 * so that all attempts together take twice as long as the last one, however slow the machine is; in the default tier they
 * grow faster.
 */
export async function killed(tally: CommandLine, args: string[]): Promise<number> {
  for (let kills = 0, afterMs = 300; ; kills += 1, afterMs *= isLong ? 2 : 4) {
    const child = Bun.spawn([await tally.executable(), ...args], {
      cwd: tally.folder,
      stdout: 'ignore',
      stderr: 'ignore',
    })
    const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
    await child.exited
    clearTimeout(timer)
    if (child.signalCode !== 'SIGKILL') {
      // One that was killed between its commit and its end has done everything, and is refused when it is repeated.
      if (kills === 0) expect(child.exitCode).toBe(0)
      return kills
    }
  }
}
