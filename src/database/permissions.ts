/** File permissions of the embedded database, which contains cost data of people. */
import { chmodSync, readdirSync, type Stats, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DATABASE_FILE } from './open.ts'

const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

/** Any permission of the group or of others. */
const OTHERS = 0o077

/** Other names that a folder of Tally's alone may contain; the last belongs to the file system. */
const OWN_NAMES = new Set(['backups', 'lost+found'])

const isOwnName = (name: string) => name.startsWith(DATABASE_FILE) || /^tally-.*Z\.db(\.unfinished)?$/.test(name)

interface Folders {
  dataDir: string
  /** The folder of backups. */
  backups: string
}

/**
 * Paths that users other than the owner may read or write, deepest first. Empty on Windows, which uses access lists.
 */
export function findExposed({ dataDir, backups }: Folders): string[] {
  if (process.platform === 'win32') return []
  return [...new Set([backups, dataDir])].flatMap((folder) => {
    const names = namesIn(folder).filter(isOwnName)
    return [...names.map((name) => join(folder, name)), folder].filter(isExposed)
  })
}

/**
 * Removes the permissions of others, and returns the paths that could not be changed: those of other users, and folders
 * that contain more than Tally's files, which others may need.
 */
export function protect(folders: Folders): { changed: string[]; exposed: string[] } {
  const changed: string[] = []
  const exposed: string[] = []
  for (const path of findExposed(folders)) {
    const isDone = setPrivate(path)
    if (isDone) changed.push(path)
    else exposed.push(path)
  }
  return { changed, exposed }
}

function setPrivate(path: string): boolean {
  try {
    const isFolder = statSync(path).isDirectory()
    if (isFolder && !namesIn(path).every((name) => isOwnName(name) || OWN_NAMES.has(basename(name)))) return false
    chmodSync(path, isFolder ? FOLDER_MODE : FILE_MODE)
    return true
  } catch {
    return false
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isExposed(path: string): boolean {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && (found.mode & OTHERS) !== 0
}
