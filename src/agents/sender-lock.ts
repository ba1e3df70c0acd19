/**
 * Keeps it to one sender a server as a rule. Only as a rule: two of them do no harm, since reports are totals so far and
 * a file that is gone is gone. The lock spares work, and so it may be as simple as this, on any file system.
 */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import { stateFolder } from './state-folder.ts'

/** A sender says this often that it lives. */
export const BEAT_MS = 2_000

/**
 * Whoever was silent for so long is none of ours: its process id was given to another process. A sender that is only
 * slow gets company, which does no harm.
 */
const STALE_MS = 10_000

/** One for each server that hooks name, and one for the server of `tally agents login`. */
export function senderLockPath(environment: AgentsEnvironment, server: string | null): string {
  const name = server === null ? 'sender.lock' : `sender-${encodeURIComponent(server).slice(0, 100)}.lock`
  return join(stateFolder(environment), name)
}

/** Whether a running process holds it. */
export function isHeld(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    // Either way: the clock may have been set back.
    const isSilent = Math.abs(Date.now() - statSync(path).mtimeMs) > STALE_MS
    return !isSilent && isAlive(pid)
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return !isDefunct(pid)
  } catch (error) {
    // There, but somebody else's.
    return (error as { code?: unknown }).code === 'EPERM'
  }
}

/** Whether it has ended and nobody has collected what is left of it, as in containers whose first process does not. */
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

/** Says that the holder lives. */
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
