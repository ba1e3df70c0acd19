import { copyFileSync, existsSync, linkSync, mkdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { stateFolder } from '../../agents/state-folder.ts'
import type { AgentsEnvironment } from '../../config.ts'
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
const SHORT_LIVED = /[\\/](?:_npx|dlx(?:-[^\\/]*)?|bunx-[^\\/]*)[\\/]/

/** Whether this program runs from such a folder. */
export const isShortLived = (): boolean => SHORT_LIVED.test(process.execPath)

/**
 * As {@link selfCommand}, for what goes on when a package manager has deleted the executable: that is linked to a place that
 * stays, where the next version replaces it. Throws the error of the file system.
 */
export function stableCommand(environment: AgentsEnvironment): string[] {
  if (!isShortLived()) return selfCommand()
  const folder = join(stateFolder(environment), 'bin')
  const path = join(folder, basename(process.execPath))
  if (existsSync(path) && statSync(path).ino === statSync(process.execPath).ino) return [path]
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const next = `${path}.${process.pid}~`
  rmSync(next, { force: true })
  try {
    linkSync(process.execPath, next)
  } catch {
    // On another disk, or one that has no links.
    copyFileSync(process.execPath, next)
  }
  renameSync(next, path)
  return [path]
}

function isSame(path: string, other: string): boolean {
  try {
    return realpathSync(path) === realpathSync(other)
  } catch {
    return false
  }
}
