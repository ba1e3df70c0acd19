/** File permissions of the embedded database, which contains cost data of people. */
import { chmodSync, readdirSync, type Stats, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DATABASE_FILE } from './open.ts'

const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

const GROUP = 0o070
/** Any permission of the group or of others. */
const OTHERS = 0o077

/** New files in a folder with this bit belong to its group. */
const SET_GROUP_ID = 0o2000

/** Other names that a folder of Tally's alone may contain; the last belongs to the file system. */
const OWN_NAMES = new Set(['backups', 'verification', 'lost+found'])

const isOwnName = (name: string) =>
  name.startsWith(DATABASE_FILE) || /^(tally-.*Z\.db(\.unfinished)?|remote-backups\.json(\.new)?)$/.test(name)

interface Folders {
  dataDir: string
  /** The folder of backups. */
  backups: string
}

/**
 * Paths that users other than the owner may read or write, deepest first. Empty on Windows, which uses access lists.
 */
export function findExposed(folders: Folders): string[] {
  return exposures(folders).map(({ path }) => path)
}

interface Exposure {
  path: string
  /** Permissions of the group that are given on purpose. */
  shared: number
}

function exposures({ dataDir, backups }: Folders): Exposure[] {
  if (process.platform === 'win32') return []
  return [...new Set([backups, dataDir])].flatMap((folder) => {
    const shared = isShared(folder) ? GROUP : 0
    const names = namesIn(folder).filter(isOwnName)
    const paths = [...names.map((name) => join(folder, name)), folder]
    return paths.filter((path) => (modeOf(path) & OTHERS & ~shared) !== 0).map((path) => ({ path, shared }))
  })
}

/**
 * Whether the owner gave the folder to a group on purpose (`chmod g+rwxs`), as for a service whose admins run commands
 * under their own accounts: no usual umask makes such a folder. Its group keeps what it was given, and never gets more.
 */
function isShared(folder: string): boolean {
  const wanted = SET_GROUP_ID | GROUP
  return (modeOf(folder) & wanted) === wanted
}

/**
 * Removes the permissions of others, and returns the paths that could not be changed: those of other users, and folders
 * that contain more than Tally's files, which others may need.
 */
export function protect(folders: Folders): { changed: string[]; exposed: string[] } {
  const changed: string[] = []
  const exposed: string[] = []
  for (const exposure of exposures(folders)) {
    const isDone = setPrivate(exposure)
    if (isDone) changed.push(exposure.path)
    else exposed.push(exposure.path)
  }
  return { changed, exposed }
}

function setPrivate({ path, shared }: Exposure): boolean {
  try {
    const found = statSync(path)
    const isFolder = found.isDirectory()
    if (isFolder && !namesIn(path).every((name) => isOwnName(name) || OWN_NAMES.has(basename(name)))) return false
    const kept = found.mode & (isFolder ? shared | SET_GROUP_ID : shared)
    chmodSync(path, (isFolder ? FOLDER_MODE : FILE_MODE) | kept)
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

/** 0 if there is nothing. */
function modeOf(path: string): number {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false })
  return found?.mode ?? 0
}
