/** Brings backups to the storage and back. Everything streams: memory does not depend on the size of the database. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../open.ts'
import type { Bucket, StoredBackup } from './bucket.ts'
import { BackupError, sealed, unseal } from './encryption.ts'
import type { Upload } from './manifest.ts'

type OnBytes = (done: number, total: number) => void

/** An upper limit for the size of an object: what cannot be compressed grows a little. */
const largestObject = (bytes: number) => Math.ceil(bytes * 1.01) + 1_048_576

/** Encrypts and uploads a backup, and looks that all of it is there. */
export async function upload(
  bucket: Bucket,
  {
    file,
    name,
    recipients,
    onBytes = () => {},
  }: { file: string; name: string; recipients: readonly string[]; onBytes?: OnBytes },
): Promise<Upload> {
  const total = Bun.file(file).size
  const content = await sealed(file, recipients, (read) => onBytes(read, total))
  const sums = new Sums()
  await bucket.store(name, content.pipeThrough(sums.stream), largestObject(total))
  const { bytes, sha256 } = sums.read()
  const stored = await bucket.find(name)
  if (stored?.bytes !== bytes) {
    throw new BackupError(`${name} has ${stored?.bytes ?? 0} bytes after its upload instead of ${bytes}.`)
  }
  return { name, bytes, sha256 }
}

/** Downloads and decrypts a backup to a path that must not exist, and returns the SHA-256 of the object. */
export async function download(
  bucket: Bucket,
  backup: StoredBackup,
  { identities, to, onBytes = () => {} }: { identities: readonly string[]; to: string; onBytes?: OnBytes },
): Promise<string> {
  const sums = new Sums((done) => onBytes(done, backup.bytes))
  try {
    await unseal(bucket.read(backup).pipeThrough(sums.stream), identities, to)
  } catch (error) {
    if (error instanceof BackupError) throw new BackupError(`${backup.name}: ${error.message}`, { cause: error.cause })
    throw error
  }
  return sums.read().sha256
}

/** Reads a backup without a private key, and returns the SHA-256 of the object. */
export async function sumOf(bucket: Bucket, backup: StoredBackup, onBytes: OnBytes = () => {}): Promise<string> {
  const sums = new Sums((done) => onBytes(done, backup.bytes))
  for await (const _ of bucket.read(backup).pipeThrough(sums.stream));
  return sums.read().sha256
}

/** Throws {@link BackupError} if an object is not the one that was uploaded. */
export function requireSame(backup: StoredBackup, sha256: string, uploaded: Upload): void {
  if (backup.bytes === uploaded.bytes && sha256 === uploaded.sha256) return
  throw new BackupError(
    `${backup.name} is not what this server uploaded: it has ${backup.bytes} bytes and the SHA-256 ${sha256}, instead of ${uploaded.bytes} bytes and ${uploaded.sha256}. Somebody or something has changed it in the storage.`,
  )
}

/** Runs `work` with a path for a database in a new folder, which is removed afterwards, whatever happens. */
export async function inScratch<Result>(folder: string, work: (database: string) => Promise<Result>): Promise<Result> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    return await work(join(folder, DATABASE_FILE))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Counts and hashes what passes. */
class Sums {
  #bytes = 0
  readonly #hash = new Bun.CryptoHasher('sha256')
  readonly stream: TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>

  constructor(onBytes: (done: number) => void = () => {}) {
    this.stream = new TransformStream({
      transform: (chunk, controller) => {
        this.#bytes += chunk.byteLength
        this.#hash.update(chunk)
        onBytes(this.#bytes)
        controller.enqueue(chunk)
      },
    })
  }

  read(): { bytes: number; sha256: string } {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }
}
