/**
 * Replaces an executable so that at every moment, also after a crash, its path is that of the old or the new one, whole.
 * Everything is prepared in a folder beside it, as only within one file system a file gets another name at once.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CommandError } from '../failures.ts'
import type { SharedFiles } from './archive.ts'

const PREFIX = '.tally-update-'

/** Where the replaced executable is kept. */
export const previousOf = (executable: string) => `${executable}.previous`

/**
 * Makes the folder for an update of an executable, and removes those of updates that were killed. Throws if its folder is
 * not writable, or another update is running.
 */
export function makeWorkFolder(executable: string): string {
  const beside = dirname(executable)
  const own = join(beside, `${PREFIX}${process.pid}`)
  try {
    rmSync(own, { recursive: true, force: true })
    mkdirSync(own, { mode: 0o700 })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC') throw noSpace(beside)
    if (!['EACCES', 'EPERM', 'EROFS'].includes(code ?? '')) throw error
    throw new CommandError(
      `${beside} is not writable (${message}). Run this as the owner of ${executable}, such as with sudo.`,
    )
  }
  try {
    for (const name of readdirSync(beside).filter((each) => each.startsWith(PREFIX) && each !== basename(own))) {
      const pid = Number(name.slice(PREFIX.length))
      if (isRunning(pid)) {
        throw new CommandError(`Another update of ${executable} is running (process ${pid}). Wait until it has ended.`)
      }
      rmSync(join(beside, name), { recursive: true, force: true })
    }
  } catch (error) {
    rmSync(own, { recursive: true, force: true })
    throw error
  }
  return own
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export const noSpace = (folder: string) =>
  new CommandError(`There is not enough space in ${folder}. Nothing was changed. Free 250 MB, and try again.`)

interface Replacement {
  executable: string
  /** The new executable, in the work folder. */
  next: string
  workFolder: string
}

/** Keeps the old one as {@link previousOf}. */
export function replaceExecutable({ executable, next, workFolder }: Replacement): void {
  const { mode, uid, gid } = statSync(executable)
  chmodSync(next, mode & 0o7777)
  if (process.getuid?.() === 0) chownSync(next, uid, gid)
  sync(next)
  const kept = join(workFolder, 'previous')
  try {
    linkSync(executable, kept)
  } catch {
    // Some file systems have no links.
    copyFileSync(executable, kept)
    sync(kept)
  }
  renameSync(kept, previousOf(executable))
  renameSync(next, executable)
  sync(dirname(executable))
}

/**
 * Replaces the manual page and completions where `install.sh` has put them, below the prefix of an executable in `bin`, and
 * returns the paths that could not be replaced.
 */
export function replaceShared(executable: string, files: SharedFiles): string[] {
  const folder = dirname(executable)
  if (basename(folder) !== 'bin') return []
  const failed: string[] = []
  for (const [path, content] of files) {
    const target = join(dirname(folder), path)
    if (!existsSync(target)) continue
    const unfinished = `${target}.unfinished`
    try {
      writeFileSync(unfinished, content, { mode: 0o644 })
      renameSync(unfinished, target)
    } catch {
      rmSync(unfinished, { force: true })
      failed.push(target)
    }
  }
  return failed
}

/** Returns when the file, or the names in the folder, are on disk. */
function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
