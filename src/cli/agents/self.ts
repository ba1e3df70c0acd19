import { realpathSync } from 'node:fs'
import { COMMIT } from '../../embedded/version.ts'

/**
 * How to start this very Tally again. By the name under which the shell finds it, where that is it: the name stays when
 * an upgrade replaces the executable.
 */
export function selfCommand(): string[] {
  if (COMMIT === 'dev') return [process.execPath, Bun.main]
  const found = Bun.which('tally')
  return [found && isSame(found, process.execPath) ? found : process.execPath]
}

/** Folders of `npx`, `pnpm dlx`, `yarn dlx` and `bunx`, which they empty at any time. */
export const SHORT_LIVED = /[\\/](?:_npx|dlx(?:-[^\\/]*)?|bunx-[^\\/]*)[\\/]/

/** What to say before settings that stay name an executable that does not; undefined if it stays. */
export function shortLivedAdvice(
  [executable = '']: readonly string[],
  { what, command }: { what: string; command: string },
): string | undefined {
  if (!SHORT_LIVED.test(executable)) return undefined
  return `The ${what} would run ${executable}, which a package manager can delete at any time. Install Tally to stay with \`npm install --global tally-agents\`, then run \`${command}\`.`
}

function isSame(path: string, other: string): boolean {
  try {
    return realpathSync(path) === realpathSync(other)
  } catch {
    return false
  }
}
