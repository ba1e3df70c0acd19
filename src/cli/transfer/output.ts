/** Where an export is written: standard output, or a private file that appears when it is complete. */

import { once } from 'node:events'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { createZstdCompress } from 'node:zlib'

export interface Output {
  write(piece: Uint8Array): Promise<void>
  /** Writes what is left, and makes it durable. */
  finish(): Promise<void>
  /** Removes an incomplete file. */
  discard(): void
}

export function standardOutput(): Output {
  return {
    async write(piece) {
      if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
    },
    async finish() {},
    discard() {},
  }
}

/** A file that only its owner can read, because it contains people's names and costs. */
export function privateFile(path: string): Output {
  const unfinished = `${path}.unfinished-${process.pid}`
  rmSync(unfinished, { force: true })
  const file = openSync(unfinished, 'wx', 0o600)
  return {
    async write(piece) {
      for (let written = 0; written < piece.length; ) written += writeSync(file, piece, written)
    },
    async finish() {
      fsyncSync(file)
      closeSync(file)
      renameSync(unfinished, path)
      const folder = openSync(dirname(path), 'r')
      fsyncSync(folder)
      closeSync(folder)
    },
    discard() {
      rmSync(unfinished, { force: true })
    },
  }
}

/** Compresses with zstd on the way to `output`. */
export function compressed(output: Output): Output {
  const compressor = createZstdCompress()
  const done = (async () => {
    for await (const piece of compressor) await output.write(piece)
  })()
  // Also awaited below.
  done.catch(() => undefined)
  return {
    async write(piece) {
      if (!compressor.write(piece)) await Promise.race([once(compressor, 'drain'), done])
    },
    async finish() {
      compressor.end()
      await done
      await output.finish()
    },
    discard: () => output.discard(),
  }
}
