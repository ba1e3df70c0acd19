/** What a server knows about its remote backups, in a file next to the local ones. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Upload } from './transfers.ts'

export interface RemoteState {
  /** The address of the storage that this is about. */
  place: string
  /** The newest backup that is known to be in the storage. */
  newest: { name: string; madeAt: number } | null
  /** What was uploaded and is still there. */
  uploads: Upload[]
  /** Why the last upload failed; null if it succeeded. */
  uploadError: string | null
  verification: Verification | null
}

export interface Verification {
  attemptedAt: number
  /** When the last one succeeded, of which backup, and what it did. */
  succeededAt: number | null
  name: string | null
  extent: 'restored' | 'compared' | 'read' | null
  /** Why the last one failed; null if it succeeded. */
  error: string | null
}

const STATE_FILE = 'remote-backups.json'

const emptyState = (place: string): RemoteState => ({
  place,
  newest: null,
  uploads: [],
  uploadError: null,
  verification: null,
})

/** An empty one if there is no file, if it cannot be read, or if it is about another storage. */
export function readState(folder: string, place: string): RemoteState {
  try {
    const state = JSON.parse(readFileSync(join(folder, STATE_FILE), 'utf8')) as RemoteState
    return state.place === place ? state : emptyState(place)
  } catch {
    return emptyState(place)
  }
}

export function writeState(folder: string, state: RemoteState): void {
  const path = join(folder, STATE_FILE)
  const file = openSync(`${path}.new`, 'w', 0o600)
  writeSync(file, `${JSON.stringify(state, null, 2)}\n`)
  fsyncSync(file)
  closeSync(file)
  renameSync(`${path}.new`, path)
}
