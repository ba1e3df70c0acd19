/**
 * Backups outside of the machine: compressed with Zstandard (RFC 8878), then encrypted in the format of age
 * (age-encryption.org/v1), which `age --decrypt | zstd --decompress` reads as well. All of it streams: age authenticates
 * chunks of 64 KiB in their order, and their end, so nothing that was changed, cut off or reordered is ever decrypted.
 */
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { ExpansionError, ExpansionLimit } from '../../../lib/expansion-limit.ts'
import { databaseBytes, HEADER_BYTES } from '../../engines/sqlite/file-header.ts'

/** A backup that cannot be decrypted, stored or found, or a key that is wrong. The message says what to do. */
export class BackupError extends Error {
  override name = 'BackupError'
}

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>

/** Throws {@link BackupError} for a text that is not a public key. */
export function encrypterFor(recipients: readonly string[]): Encrypter {
  const encrypter = new Encrypter()
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient)
    } catch {
      throw new BackupError(
        `'${recipient}' is not a public key of age (TALLY_BACKUP_RECIPIENTS). Copy it from the line that begins with age1.`,
      )
    }
  }
  return encrypter
}

/** A file as it is stored outside. `onBytes` receives how many bytes of the file were read so far. */
export async function sealed(
  file: string,
  recipients: readonly string[],
  onBytes: (read: number) => void = () => {},
): Promise<Bytes> {
  let read = 0
  const counting = noting((bytes) => {
    read += bytes
    onBytes(read)
  })
  const compressed = (Bun.file(file).stream() as Bytes).pipeThrough(counting).pipeThrough(zstd(CompressionStream))
  return encrypterFor(recipients).encrypt(compressed) as Promise<Bytes>
}

/** Passes on every chunk, after its size. */
function noting(note: (bytes: number) => void) {
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      note(chunk.byteLength)
      controller.enqueue(chunk)
    },
  })
}

/** Its type lacks the format, which Bun has. */
function zstd(Stream: typeof CompressionStream | typeof DecompressionStream) {
  return new Stream('zstd' as 'gzip') as unknown as TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>
}

/**
 * Decrypts and decompresses into a new file, readable by its owner only. It never gets larger than the database that its
 * first bytes announce, or than the disk has space, or than any database that was compressed so far: whoever can write to the
 * storage can encrypt for its recipients. Throws {@link BackupError}, and removes the file then.
 *
 * @param identities private keys, as `readIdentities` returns them
 */
export async function unseal(stored: Bytes, identities: readonly string[], path: string): Promise<void> {
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  const file = openSync(path, 'wx', 0o600)
  try {
    const decrypted = (await decrypter.decrypt(stored)) as Bytes
    const limit = new ExpansionLimit()
    const counted = decrypted.pipeThrough(noting((bytes) => limit.compressed(bytes)))
    await writeDatabase(limit.after(counted.pipeThrough(zstd(DecompressionStream))), file, path)
    fsyncSync(file)
  } catch (error) {
    rmSync(path)
    throw readable(error)
  } finally {
    closeSync(file)
  }
}

async function writeDatabase(content: AsyncIterable<Uint8Array>, file: number, path: string): Promise<void> {
  let begin = Buffer.alloc(0)
  let total: number | undefined
  let written = 0
  for await (const chunk of content) {
    if (total === undefined) {
      begin = Buffer.concat([begin, chunk.subarray(0, HEADER_BYTES)])
      if (begin.byteLength >= HEADER_BYTES) {
        total = databaseBytes(begin)
        if (total === undefined) throw new BackupError('It does not contain a SQLite database.')
        requireSpace(path, total)
      }
    }
    written += chunk.byteLength
    if (total !== undefined && written > total) throw new BackupError('It contains more than its database.')
    for (let at = 0; at < chunk.byteLength; ) at += writeSync(file, chunk, at)
  }
  if (total === undefined || written < total) throw new BackupError('It contains only a part of its database.')
}

function requireSpace(path: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  if (bavail * bsize >= bytes) return
  throw new BackupError(
    `Not enough disk space in ${dirname(path)}: the database needs ${Math.ceil(bytes / 1e6)} MB. Free some, or choose another folder.`,
  )
}

/** What age and zstd report, as something to act on. */
function readable(error: unknown): unknown {
  if (error instanceof BackupError) return error
  if (error instanceof ExpansionError) {
    return new BackupError(`It is not a backup of Tally: ${error.message}. Use another backup.`)
  }
  const { message, code } = error as { message: string; code?: string }
  if (message.startsWith('no identity matched')) {
    return new BackupError(
      'It is encrypted for another key. Use the identity file (--identity) of one of its recipients.',
    )
  }
  // A full disk, or the connection to the storage.
  if (code !== undefined && !code.startsWith('ZSTD_') && code !== 'ERR_ZSTD') return error
  return new BackupError(`It was changed, is incomplete or not encrypted with age (${message}). Use another backup.`)
}

/**
 * The private keys in the text of an identity file, as age-keygen writes it: one on each line, besides comments. Throws
 * {@link BackupError}; no message repeats a key.
 */
export function readIdentities(text: string, path: string): string[] {
  if (/^(age-encryption\.org|-----BEGIN AGE)/.test(text)) {
    throw new BackupError(
      `${path} is itself encrypted. Decrypt it first: age --decrypt ${path} | tally … --identity /dev/stdin`,
    )
  }
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  if (lines.length === 0) throw new BackupError(`${path} does not contain a private key (AGE-SECRET-KEY-1…).`)
  for (const line of lines) {
    try {
      new Decrypter().addIdentity(line)
    } catch {
      throw new BackupError(`${path} has a line that is not a private key of age (AGE-SECRET-KEY-1…).`)
    }
  }
  return lines
}

/** A new pair of keys. */
export async function generateKeys(): Promise<{ identity: string; recipient: string }> {
  const identity = await generateX25519Identity()
  return { identity, recipient: await identityToRecipient(identity) }
}
