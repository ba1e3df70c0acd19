/** Finds session files and reads their state: size, modification time and identity. */
import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { Damage } from './agent.ts'
import type { Reader } from './readers/reader.ts'
import type { FileState } from './scan-cache.ts'

export interface FoundFile extends FileState {
  size: number
  bornAt: number
}

/** The session files in some folders, ordered by path. Missing folders contain none. */
export function findFiles(reader: Reader, folders: readonly string[], damage: Damage[]): FoundFile[] {
  const found = new Map<string, FoundFile>()
  for (const folder of folders) {
    const isIncluded = (path: string) => reader.isSessionFolder?.(relative(folder, path)) ?? true
    for (const path of pathsIn(folder, damage, isIncluded)) {
      if (!reader.isSessionFile(relative(folder, path))) continue
      const file = findFile(reader, path, damage)
      // A file with two names is read once.
      if (file) found.set(file.identity, found.get(file.identity) ?? file)
    }
  }
  return [...found.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Undefined if it is not a file, has just been removed, or can't be examined. */
function findFile(reader: Reader, path: string, damage: Damage[]): (FoundFile & { identity: string }) | undefined {
  const stats = findStats(path, damage)
  if (!stats?.isFile()) return undefined
  const all = [stats, ...(reader.companions?.(path) ?? []).map((each) => findStats(each, damage))]
  return {
    path,
    size: stats.size,
    bornAt: stats.birthtimeMs,
    identity: `${stats.dev}:${stats.ino}`,
    state: all.map((each) => (each ? `${each.size} ${each.mtimeMs} ${each.ino}` : '-')).join(','),
  }
}

function findStats(path: string, damage: Damage[]): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    // A link to itself, or a folder that may be listed but not entered.
    damage.push({ file: path, line: null, what: issueOf(error) })
    return undefined
  }
}

/** The files in a folder and its included subfolders. */
function pathsIn(folder: string, damage: Damage[], isIncluded: (folder: string) => boolean): string[] {
  let entries: Dirent[]
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') damage.push({ file: folder, line: null, what: issueOf(error) })
    return []
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return isIncluded(path) ? pathsIn(path, damage, isIncluded) : []
  })
}

export function issueOf(error: unknown): string {
  return `cannot be read: ${(error as Error).message}`
}

/**
 * For agents with files in an unusual place: the folder of the file that a hook named, which also contains earlier
 * files.
 */
export function filesOfTranscript(
  reader: Reader,
  transcriptPath: string | undefined,
  known: readonly FoundFile[],
  damage: Damage[],
): FoundFile[] {
  if (transcriptPath === undefined) return []
  const path = resolve(transcriptPath)
  if (known.some((file) => file.path === path) || !findStats(path, damage)) return []
  const beside = pathsIn(dirname(path), damage, () => true).filter((each) => extensionOf(each) === extensionOf(path))
  return beside.flatMap((each) => findFile(reader, each, damage) ?? [])
}

function extensionOf(path: string): string {
  return basename(path).replace(/^.*(?=\.)/, '')
}
