/**
 * Limits senders to one per server, usually. Two do no harm, since reports are totals so far and removing a file twice
 * changes nothing. The lock only avoids unnecessary work, so it can be this simple, on any file system.
 */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import { stateFolder } from './state-folder.ts'

/** A sender updates its lock this often. */
export const BEAT_MS = 2_000

/**
 * A lock that has not been updated for this long is stale: its process id now belongs to another process. If a sender
 * is only slow, a second one is started, which does no harm.
 */
const STALE_MS = 10_000

/** One per server named by hooks, and one for the server of `tally agents login`. */
export function senderLockPath(environment: AgentsEnvironment, server: string | null): string {
  const name = server === null ? 'sender.lock' : `sender-${encodeURIComponent(server).slice(0, 100)}.lock`
  return join(stateFolder(environment), name)
}

/** Whether a running process holds it. */
export function isHeld(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    // In both directions: the clock may have been set back.
    const isSilent = Math.abs(Date.now() - statSync(path).mtimeMs) > STALE_MS
    return !isSilent && isAlive(pid)
  } catch {
    return false
  }
}

/** Whether there is a process with this id, which may be another one than before. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return !isDefunct(pid)
  } catch (error) {
    // It exists, but belongs to another user.
    return (error as { code?: unknown }).code === 'EPERM'
  }
}

/** Whether it has ended but has not been reaped, as in containers where the first process does not do so. */
function isDefunct(pid: number): boolean {
  try {
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, ''))
  } catch {
    return false
  }
}

/** Takes the lock; returns false if another process holds it. */
export function takeLock(path: string): boolean {
  if (isHeld(path)) return false
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  try {
    const file = openSync(path, 'wx', 0o600)
    writeSync(file, String(process.pid))
    closeSync(file)
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false
    throw error
  }
}

/** Shows that the holder is alive. */
export function beat(path: string): void {
  try {
    const now = new Date()
    utimesSync(path, now, now)
  } catch {}
}

export function releaseLock(path: string): void {
  try {
    if (Number(readFileSync(path, 'utf8')) === process.pid) rmSync(path, { force: true })
  } catch {}
}
