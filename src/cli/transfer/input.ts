/** The file that is imported: read in place, or first decompressed or copied from standard input. */
import {
  closeSync,
  createWriteStream,
  fstatSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statfsSync,
  type WriteStream,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import { ExpansionError, ExpansionLimit } from '../../lib/expansion-limit.ts'
import { CommandError } from '../failures.ts'

/** RFC 8878, 3.1.1. */
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

const CHUNK_BYTES = 65_536

export interface Input {
  /** An open file. */
  file: number
  bytes: number
}

/** Opens the file for `work`. `-` is standard input. */
export async function withInput<Result>(path: string, work: (input: Input) => Promise<Result>): Promise<Result> {
  let file = path === '-' ? await copied((copy) => pipeline(process.stdin, copy)) : openSync(path, 'r')
  try {
    if (fstatSync(file).isDirectory()) throw new CommandError(`${path} is a folder, not a file.`)
    if (isCompressed(file)) {
      const unpacked = await decompressed(file, path)
      closeSync(file)
      file = unpacked
    }
    return await work({ file, bytes: fstatSync(file).size })
  } finally {
    closeSync(file)
  }
}

function isCompressed(file: number): boolean {
  const start = Buffer.alloc(ZSTD_MAGIC.length)
  readSync(file, start, 0, start.length, 0)
  return start.equals(ZSTD_MAGIC)
}

async function decompressed(file: number, path: string): Promise<number> {
  const { bavail, bsize } = statfsSync(tmpdir())
  const limit = new ExpansionLimit(bavail * bsize)
  try {
    return await copied((copy) => pipeline(chunksOf(file), limit.before, createZstdDecompress(), limit.after, copy))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (error instanceof ExpansionError) {
      throw new CommandError(
        `${path} is not imported: ${message}. Create it again with \`tally export\`, or set TMPDIR to a folder with more space.`,
      )
    }
    if (code?.startsWith('ZSTD_') || code === 'Z_BUF_ERROR') {
      throw new CommandError(`${path} cannot be decompressed (${message}). Copy it again.`)
    }
    throw error
  }
}

/** Not a stream, which closes the file if what reads it fails. */
function* chunksOf(file: number): Generator<Uint8Array> {
  for (let at = 0; ; ) {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    const bytes = readSync(file, chunk, 0, chunk.length, at)
    if (bytes === 0) return
    at += bytes
    yield chunk.subarray(0, bytes)
  }
}

/** A private copy without a name, so that nothing of it is left, however the process ends. */
async function copied(write: (copy: WriteStream) => Promise<void>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-import-'))
  try {
    const path = join(folder, 'export.ndjson')
    await write(createWriteStream(path, { mode: 0o600, flags: 'wx' }))
    return openSync(path, 'r')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
