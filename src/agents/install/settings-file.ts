/** Reads an agent's settings file exactly, and replaces it atomically while keeping everything else about it. */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isMissing } from '../private-files.ts'
import { SettingsError } from './installer.ts'

const BYTE_ORDER_MARK = '\ufeff'

/** The text, without a byte order mark; undefined if there is no such file. Throws {@link SettingsError}. */
export function readSettingsFile(path: string): string | undefined {
  const bytes = readBytes(path)
  return bytes && textOf(bytes)
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new SettingsError('is not valid UTF-8. Fix it first')
  }
}

export function readBytes(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw new SettingsError(`cannot be read: ${(error as Error).message}`)
  }
}

/** The bytes of the new text, with a byte order mark if there was one. */
export function bytesLike(before: Uint8Array | undefined, text: string): Uint8Array {
  const hasMark = before !== undefined && before[0] === 0xef && before[1] === 0xbb && before[2] === 0xbf
  return Buffer.from(hasMark ? BYTE_ORDER_MARK + text : text)
}

/**
 * Atomically replaces `before` with `after`; undefined means no file. Permissions and owner are kept, and if the path
 * is a link, its target is changed. Throws {@link SettingsError} if the file has been changed in the meantime.
 */
export function replaceFile(path: string, before: Uint8Array | undefined, after: Uint8Array | undefined): void {
  const now = readBytes(path)
  if (!isSame(now, before)) throw new SettingsError('was changed by another program in the meantime. Try again')
  try {
    if (after === undefined) rmSync(path, { force: true })
    else if (before === undefined) create(path, after)
    else overwrite(realpathSync(path), after)
  } catch (error) {
    throw new SettingsError(`cannot be written: ${(error as Error).message}`)
  }
}

export function isSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : Buffer.from(one).equals(other)
}

function create(path: string, bytes: Uint8Array): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new SettingsError('is a link to a file that does not exist')
  }
  mkdirSync(dirname(path), { recursive: true })
  // Settings of agents may contain API keys.
  writeDurably(path, bytes, 0o600)
}

function overwrite(path: string, bytes: Uint8Array): void {
  const { mode, uid, gid } = statSync(path)
  const unfinished = `${path}.tally-${process.pid}~`
  try {
    writeDurably(unfinished, bytes, mode & 0o7777)
    // Unlike the mode above, this is not subject to the umask.
    chmodSync(unfinished, mode & 0o7777)
    keepOwner(unfinished, uid, gid)
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    const { code } = error as { code?: unknown }
    // If the file itself is a mount point, or its folder belongs to someone else, it can only be changed in place.
    if (code !== 'EBUSY' && code !== 'EACCES' && code !== 'EPERM') throw error
    writeFileSync(path, bytes)
  }
}

function keepOwner(path: string, uid: number, gid: number): void {
  const made = statSync(path)
  if (process.platform !== 'win32' && (made.uid !== uid || made.gid !== gid)) chownSync(path, uid, gid)
}

function writeDurably(path: string, bytes: Uint8Array, mode: number): void {
  const file = openSync(path, 'wx', mode)
  try {
    writeFileSync(file, bytes)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
