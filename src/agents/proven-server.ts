/** A server of this user on this machine, by the file in which it announces itself to commands. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { textOf } from '../lib/response-text.ts'
import { isProof, PROOF_PATH, type ServerIdentity } from '../lib/server-proof.ts'
import { isAlive } from './sender-lock.ts'

export interface Announcement extends ServerIdentity {
  /** Its version and commit. */
  program: string
}

/** It answers from memory. */
const PROOF_TIMEOUT_MS = 2_000

const PROOF_LIMIT_BYTES = 1_024

/** The server that has announced itself and proves it; undefined for anything else at its address. */
export async function findProvenServer(path: string): Promise<Announcement | undefined> {
  const announced = readAnnouncement(path)
  if (!announced?.key || !isAlive(announced.pid)) return undefined
  const nonce = randomBytes(32).toString('base64url')
  try {
    const response = await fetch(`${announced.url}${PROOF_PATH}?nonce=${nonce}`, {
      redirect: 'error',
      signal: AbortSignal.timeout(PROOF_TIMEOUT_MS),
    })
    const { proof } = JSON.parse(await textOf(response, PROOF_LIMIT_BYTES)) as { proof?: unknown }
    return isProof(announced, nonce, proof) ? announced : undefined
  } catch {
    return undefined
  }
}

/** Undefined if there is none that this user can read: commands then do without. One of an earlier version has no key. */
export function readAnnouncement(path: string): Announcement | undefined {
  try {
    const announced = JSON.parse(readFileSync(path, 'utf8')) as Partial<Announcement>
    const { url, pid, key = '', program = '' } = announced
    return typeof url === 'string' && URL.canParse(url) && Number.isInteger(pid)
      ? { url, pid: pid!, key, program }
      : undefined
  } catch {
    return undefined
  }
}
