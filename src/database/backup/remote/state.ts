/** What a server knows about its backups in the storage, in files next to the local ones. */
import { Database as Connection } from 'bun:sqlite'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BackupError } from './encryption.ts'
import type { Memory, Upload } from './manifest.ts'

/** How the uploads and verifications of a server went, which `tally doctor` shows. */
export interface RemoteState {
  /** Uploads that the storage no longer has. */
  missing: string[]
  /** Objects in the storage that are not own backups. */
  others: number
  verification: Verification | null
}

export interface Verification {
  attemptedAt: number
  /** When the last one succeeded, of which backup, and what it did. */
  succeededAt: number | null
  /** When one was last restored. */
  restoredAt: number | null
  name: string | null
  extent: Extent | null
  /** Why the last one failed; null if it succeeded. */
  error: string | null
}

/** `restored`: decrypted, restored and checked; `compared`: the object is the one that was uploaded. */
export type Extent = 'restored' | 'compared'

const emptyState = (): RemoteState => ({ missing: [], others: 0, verification: null })

/** Whose uploads, from where to where: two databases may share a folder, and one may have several storages. */
export interface StatePlace {
  /** The folder for local backups. */
  folder: string
  timeline: string
  /** The address of the storage. */
  place: string
}

const stateFile = ({ folder, timeline }: StatePlace) => join(folder, `remote-backups-${timeline}.json`)
const memoryFile = ({ folder, timeline }: StatePlace) => join(folder, `remote-manifests-${timeline}.json`)

/** What earlier versions wrote, which knew one database and one storage. */
const EARLIER_FILE = 'remote-backups.json'

interface EarlierState {
  place: string
  uploads: Upload[]
  /** `read`: it was downloaded, which shows nothing. */
  verification: (Omit<Verification, 'restoredAt' | 'extent'> & { extent: Extent | 'read' | null }) | null
}

function readEarlier({ folder, place }: StatePlace): EarlierState | undefined {
  const state = readJson(join(folder, EARLIER_FILE)) as unknown as EarlierState
  return state.place === place ? state : undefined
}

/** An empty one if it cannot be read: it only says how the last uploads and verifications went. */
export function readState(at: StatePlace): RemoteState {
  try {
    return readJson<RemoteState>(stateFile(at))[at.place] ?? earlierState(at)
  } catch {
    return emptyState()
  }
}

function earlierState(at: StatePlace): RemoteState {
  const verification = readEarlier(at)?.verification
  if (!verification || verification.extent === 'read') return emptyState()
  const restoredAt = verification.extent === 'restored' ? verification.succeededAt : null
  return { ...emptyState(), verification: { ...verification, extent: verification.extent, restoredAt } }
}

export function writeState(at: StatePlace, state: RemoteState): void {
  let others: Record<string, RemoteState> = {}
  try {
    others = readJson(stateFile(at))
  } catch {
    // What it had is lost anyway.
  }
  writeJson(stateFile(at), { ...others, [at.place]: state })
}

/** The memory of a server, with what an earlier version has uploaded. */
export function readMemory(at: StatePlace): Memory & { earlier: readonly Upload[] } {
  const memory = readJson<Memory>(memoryFile(at))[at.place]
  if (memory) return { ...memory, earlier: [] }
  return { text: null, isStored: false, earlier: readEarlier(at)?.uploads ?? [] }
}

export function writeMemory(at: StatePlace, memory: Memory): void {
  writeJson(memoryFile(at), { ...readJson(memoryFile(at)), [at.place]: memory })
}

/** The first database that goes on with what an earlier version has uploaded is the only one. */
export function endEarlierState({ folder, timeline }: StatePlace): void {
  try {
    renameSync(join(folder, EARLIER_FILE), join(folder, `remote-backups-${timeline}-earlier.json`))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

const BUSY_TIMEOUT_MS = 60_000

/** Runs `work` while no other process does, such as `tally backup` next to a server. The system ends the lock with the process. */
export async function exclusively<Result>(at: StatePlace, work: () => Promise<Result>): Promise<Result> {
  mkdirSync(at.folder, { recursive: true, mode: 0o700 })
  const lock = new Connection(`${memoryFile(at)}.lock`, { create: true, readwrite: true })
  try {
    lock.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    lock.run('BEGIN EXCLUSIVE')
    return await work()
  } finally {
    lock.close()
  }
}

function readJson<Value = unknown>(path: string): Record<string, Value> {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return {}
    throw new BackupError(
      `${path} cannot be read (${code ?? message}). Check its owner; if it is damaged, remove it: backups are then uploaded on another timeline.`,
    )
  }
}

/** By the addresses of storages. */
function writeJson(path: string, all: Record<string, unknown>): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(`${path}.new`, 'w', 0o600)
  writeSync(file, `${JSON.stringify(all, null, 2)}\n`)
  fsyncSync(file)
  closeSync(file)
  renameSync(`${path}.new`, path)
}
