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

/** The session files in some folders, in the order of their paths. A folder that is not there has none. */
export function findFiles(reader: Reader, folders: readonly string[], damage: Damage[]): FoundFile[] {
  const found = new Map<string, FoundFile>()
  for (const folder of folders) {
    const isWanted = (path: string) => reader.isSessionFolder?.(relative(folder, path)) ?? true
    for (const path of pathsIn(folder, damage, isWanted)) {
      if (!reader.isSessionFile(relative(folder, path))) continue
      const file = findFile(reader, path, damage)
      // One that is reached by two names is one.
      if (file) found.set(file.identity, found.get(file.identity) ?? file)
    }
  }
  return [...found.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Undefined where it is no file, has vanished meanwhile, or where nobody can say what it is. */
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
    // A link that leads to itself, or a folder that may be listed and not entered.
    damage.push({ file: path, line: null, what: issueOf(error) })
    return undefined
  }
}

/** The files in a folder and in those below it that are wanted. */
function pathsIn(folder: string, damage: Damage[], isWanted: (folder: string) => boolean): string[] {
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
    return isWanted(path) ? pathsIn(path, damage, isWanted) : []
  })
}

export function issueOf(error: unknown): string {
  return `cannot be read: ${(error as Error).message}`
}

/** Where an agent keeps its files elsewhere: the folder of the one that a hook named, which holds the earlier ones too. */
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
