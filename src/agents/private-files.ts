/** Tally's own files on a developer's machine, readable only by their owner. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whether the error means that there is no such file. */
export function isMissing(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/**
 * Writes a file atomically and durably, so that it survives a power failure. Synchronous, because a hook has nothing
 * else to do.
 */
export function writePrivateFile(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const unfinished = `${path}.${process.pid}-${crypto.randomUUID().slice(0, 8)}~`
  try {
    const file = openSync(unfinished, 'wx', 0o600)
    try {
      const bytes = Buffer.from(content as string)
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
  syncFolder(dirname(path))
}

/** Not possible on Windows, and some network file systems refuse it. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  } catch {}
}

/** The content of one of Tally's JSON files; undefined if there is none, or if it can't be read. */
export function readJsonFile<Content>(path: string): Content | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Content
  } catch {
    return undefined
  }
}
