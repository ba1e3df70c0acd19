import { realpathSync } from 'node:fs'
import { COMMIT } from '../../version.ts'

/**
 * How to start this very Tally again. By the name under which the shell finds it, where that is it: the name stays when
 * an upgrade replaces the executable.
 */
export function selfCommand(): string[] {
  if (COMMIT === 'dev') return [process.execPath, Bun.main]
  const found = Bun.which('tally')
  return [found && isSame(found, process.execPath) ? found : process.execPath]
}

function isSame(path: string, other: string): boolean {
  try {
    return realpathSync(path) === realpathSync(other)
  } catch {
    return false
  }
}
