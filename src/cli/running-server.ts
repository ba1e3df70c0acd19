/**
 * The server that runs on a data folder, as it says there to commands: they know the folder, but not the port on which it
 * listens.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from '../agents/private-files.ts'
import { isAlive } from '../agents/sender-lock.ts'
import { DATABASE_FILE } from '../database/open.ts'
import { COMMIT, VERSION } from '../embedded/version.ts'
import { textOf } from '../lib/response-text.ts'
import { isProof, PROOF_PATH, type ServerIdentity } from '../lib/server-proof.ts'

export interface Announcement extends ServerIdentity {
  /** Of the program: see {@link PROGRAM}. */
  program: string
}

/** Servers of two commits of one version may expect different databases. */
export const PROGRAM = `${VERSION} ${COMMIT}`

/** Named like the files of the database, which are readable by their owner only. */
const pathIn = (dataDir: string) => join(dataDir, `${DATABASE_FILE}-server`)

/** Throws the error of the file system. */
export function announceServer(dataDir: string, identity: ServerIdentity): void {
  writePrivateFile(pathIn(dataDir), JSON.stringify({ ...identity, program: PROGRAM } satisfies Announcement))
}

/** Unless another server has announced itself since. Throws the error of the file system. */
export function withdrawServer(dataDir: string, pid = process.pid): void {
  if (readAnnouncement(dataDir)?.pid === pid) rmSync(pathIn(dataDir), { force: true })
}

/** The address of the running server on this machine; undefined if none is known to run. */
export function findServer(dataDir: string): string | undefined {
  const announced = readAnnouncement(dataDir)
  // A server that was killed leaves its announcement.
  return announced && isAlive(announced.pid) ? announced.url : undefined
}

/** It answers from memory. */
const PROOF_TIMEOUT_MS = 2_000

const PROOF_LIMIT_BYTES = 1_024

/** The server that runs on the folder and proves it; undefined for anything else at its address. */
export async function findProvenServer(dataDir: string): Promise<Announcement | undefined> {
  const announced = readAnnouncement(dataDir)
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
function readAnnouncement(dataDir: string): Announcement | undefined {
  try {
    const announced = JSON.parse(readFileSync(pathIn(dataDir), 'utf8')) as Partial<Announcement>
    const { url, pid, key = '', program = '' } = announced
    return typeof url === 'string' && URL.canParse(url) && Number.isInteger(pid)
      ? { url, pid: pid!, key, program }
      : undefined
  } catch {
    return undefined
  }
}
