/** Finds session files and reads their state: size, modification time and identity. */
import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, extname, normalize, resolve, sep } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import type { Damage } from './agent.ts'
import type { Reader } from './readers/reader.ts'
import type { FileState } from './scan-cache.ts'

export interface FoundFile extends FileState {
  size: number
  bornAt: number
  /** Of the file or a companion, whichever changed last. */
  changedAt: number
}

/** The folders and files in which an agent keeps sessions; they need not exist. */
export function sessionPlaces(reader: Reader, environment: AgentsEnvironment): string[] {
  return [...reader.folders(environment), ...(reader.files?.(environment) ?? [])]
}

/**
 * The session files of an agent, ordered by path. Missing folders contain none.
 *
 * @param onFolder called with each folder that was searched
 */
export function findFiles(
  reader: Reader,
  environment: AgentsEnvironment,
  damage: Damage[],
  onFolder?: (folder: string) => void,
): FoundFile[] {
  const inFolders = reader.folders(environment).flatMap((each) => {
    const folder = normalize(each)
    // Not by `relative`, which takes as long as the rest.
    const start = inFolder(folder, '').length
    const isSessionFile = (path: string) => reader.isSessionFile(path.slice(start))
    const isSessionFolder = (path: string) => reader.isSessionFolder?.(path.slice(start)) ?? true
    return pathsIn(folder, damage, { isSessionFile, isSessionFolder, ...(onFolder && { onFolder }) })
  })
  const found = new Map<string, FoundFile>()
  for (const path of [...inFolders, ...(reader.files?.(environment) ?? [])]) {
    const file = findFile(reader, path, damage)
    // A file with two names is read once.
    if (file) found.set(file.identity, found.get(file.identity) ?? file)
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
    changedAt: Math.max(...all.map((each) => each?.mtimeMs ?? 0)),
    identity: identityOf(stats),
    state: all.map((each) => (each ? `${each.size} ${each.mtimeMs} ${each.ino}` : '-')).join(','),
  }
}

/** Undefined if there is nothing, which is damage only if something must be there. */
function findStats(path: string, damage: Damage[], { mustExist = false } = {}): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: mustExist })
  } catch (error) {
    // A link to itself, despite `throwIfNoEntry`, or to nothing, or a folder that may be listed but not entered. Likewise,
    // `rmSync` throws despite `force` if a part of the path is a file.
    damage.push({ file: path, line: null, what: issueOf(error) })
    return undefined
  }
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`
}

interface Wanted {
  isSessionFile(path: string): boolean
  isSessionFolder(path: string): boolean
  onFolder?(path: string): void
}

/**
 * The session files in a folder and its session folders, also behind links. Links are followed last, so that a folder is
 * known by its own path, and not into a folder that has been read, such as one that contains the link.
 */
function pathsIn(folder: string, damage: Damage[], { isSessionFile, isSessionFolder, onFolder }: Wanted): string[] {
  const paths: string[] = []
  const folders: string[] = []
  const links: string[] = []
  const read = (path: string) => {
    folders.push(path)
    onFolder?.(path)
    for (const entry of entriesOf(path, damage)) {
      const inside = inFolder(path, entry.name)
      if (entry.isSymbolicLink()) links.push(inside)
      else if (!entry.isDirectory()) paths.push(inside)
      else if (isSessionFolder(inside)) read(inside)
    }
  }
  read(folder)
  const known = new Set<string>()
  // Folders behind links may contain more of them.
  for (const link of links) {
    if (!isSessionFile(link) && !isSessionFolder(link)) continue
    const stats = findStats(link, damage, { mustExist: true })
    if (!stats?.isDirectory()) {
      if (stats) paths.push(link)
      continue
    }
    for (const each of folders.splice(0)) {
      const own = findStats(each, damage)
      if (own) known.add(identityOf(own))
    }
    if (!known.has(identityOf(stats)) && isSessionFolder(link)) read(link)
  }
  return paths.filter(isSessionFile)
}

/** As `join`, for a folder whose path is normalized, in a fraction of the time. */
function inFolder(folder: string, name: string): string {
  if (folder === '.') return name
  return folder.endsWith(sep) ? folder + name : folder + sep + name
}

function entriesOf(folder: string, damage: Damage[]): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') damage.push({ file: folder, line: null, what: issueOf(error) })
    return []
  }
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
  const isSessionFile = (each: string) => extensionOf(each) === extensionOf(path)
  const beside = pathsIn(dirname(path), damage, { isSessionFile, isSessionFolder: () => true })
  return beside.flatMap((each) => findFile(reader, each, damage) ?? [])
}

/** Without that of compression: an agent may compress older files. */
function extensionOf(path: string): string {
  return extname(path.replace(/\.zst$/, ''))
}
