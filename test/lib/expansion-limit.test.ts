/** Compressed data that expands to far more than real data does is not decompressed to its end. */
import { expect, test } from 'bun:test'
import { Readable, type Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress, gzipSync, zstdCompressSync } from 'node:zlib'
import { ExpansionError, ExpansionLimit } from '../../src/lib/expansion-limit.ts'

const MIB = 1_048_576

/** What arrives of it behind the decompressor, and how that ends. */
async function expanded(chunks: Iterable<Uint8Array>, decompressor: Transform, mostBytes?: number) {
  const limit = new ExpansionLimit(mostBytes)
  let bytes = 0
  const sink = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.length
      done()
    },
  })
  const error: unknown = await pipeline(Readable.from(chunks), limit.before, decompressor, limit.after, sink).catch(
    (caught) => caught,
  )
  return { bytes, error }
}

/** Data that goes on for longer than any test would wait. */
function* endless(frame: Uint8Array): Generator<Uint8Array> {
  for (;;) yield frame
}

test.each([
  ['zstd', zstdCompressSync(Buffer.alloc(16 * MIB)), createZstdDecompress],
  ['gzip', gzipSync(Buffer.alloc(16 * MIB)), createGunzip],
])('a bomb of %s is refused after the first megabytes, even if it never ends', async (_name, frame, decompressor) => {
  const { bytes, error } = await expanded(endless(frame), decompressor())
  expect(error).toBeInstanceOf(ExpansionError)
  expect((error as Error).message).toContain('more than 200 times its size')
  expect(bytes).toBeLessThan(160 * MIB)
})

test('data expands no further than it may at all', async () => {
  const { error } = await expanded(
    endless(zstdCompressSync(crypto.getRandomValues(new Uint8Array(65_536)))),
    createZstdDecompress(),
    MIB,
  )
  expect((error as Error).message).toContain('more than 1 MB')
})

test('real data, and little data, expands to its end', async () => {
  const line = () =>
    `${JSON.stringify({ type: 'entry', id: crypto.randomUUID(), model: 'gpt-5-codex', status: 'submitted' })}\n`
  const text = Buffer.from(Array.from({ length: 20_000 }, line).join(''))
  expect(await expanded([zstdCompressSync(text)], createZstdDecompress())).toEqual({
    bytes: text.length,
    error: undefined,
  })
  const zeros = Buffer.alloc(16 * MIB)
  expect(await expanded([zstdCompressSync(zeros)], createZstdDecompress())).toEqual({
    bytes: zeros.length,
    error: undefined,
  })
})
