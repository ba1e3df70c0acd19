/**
 * Compresses responses outside the main thread.
 *
 * The levels are those after which more time saves little. A report of 1,459 kB needs 3.7 ms for 254 kB with zstd 1
 * (level 3: 7.3 ms for 275 kB). One of 806 kB needs 6.8 ms for 151 kB with Brotli 3 (5: 32 ms for 139 kB), and 6.4 ms for
 * 194 kB with gzip 3 (6: 16 ms for 182 kB).
 */
import { once } from 'node:events'
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, createZstdCompress, gzip } from 'node:zlib'
import { ZSTD_LEVEL } from '../lib/zstd.ts'
import type { Encoding } from './accept-encoding.ts'

type Bytes = Uint8Array<ArrayBuffer>
type Levels = Record<Encoding, number>

const LEVELS: Levels = { zstd: ZSTD_LEVEL, br: 3, gzip: 3 }

/** For content that is compressed once. */
const THOROUGH_LEVELS: Levels = { zstd: 15, br: 9, gzip: 9 }

/** A part of a stream is sent after this time even if more could be compressed together with it. */
const FLUSH_MS = 1_000

/** Output of a stream that is passed on at once. */
const CHUNK_BYTES = 65_536

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

const brotliOptions = (level: number) => ({ params: { [constants.BROTLI_PARAM_QUALITY]: level } })

/** Brotli keeps this much of its input, four megabytes by default, before it passes anything on. */
const BROTLI_WINDOW = { [constants.BROTLI_PARAM_LGWIN]: 19 }

const COMPRESS: Record<Encoding, (bytes: Uint8Array, level: number) => Promise<Uint8Array>> = {
  // Those of node:zlib take twice as long, and a third of that on the main thread.
  zstd: (bytes, level) => Bun.zstdCompress(bytes, { level }),
  br: (bytes, level) => brotli(bytes, brotliOptions(level)),
  gzip: (bytes, level) => zip(bytes, { level }),
}

const STREAMS: Record<Encoding, (level: number) => Transform> = {
  zstd: (level) =>
    createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: level }, chunkSize: CHUNK_BYTES }),
  br: (level) =>
    createBrotliCompress({ params: { ...brotliOptions(level).params, ...BROTLI_WINDOW }, chunkSize: CHUNK_BYTES }),
  gzip: (level) => createGzip({ level, chunkSize: CHUNK_BYTES }),
}

export function compressed(bytes: Uint8Array, encoding: Encoding): Promise<Bytes> {
  return COMPRESS[encoding](bytes, LEVELS[encoding]) as Promise<Bytes>
}

/** As small as it gets within a fraction of a second. */
export function compressedThoroughly(bytes: Uint8Array, encoding: Encoding): Promise<Bytes> {
  return COMPRESS[encoding](bytes, THOROUGH_LEVELS[encoding]) as Promise<Bytes>
}

/** Compresses chunks as they are consumed: the next one is requested once the output of the previous one is taken. */
export async function* compressedChunks(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<Uint8Array> {
  const stream = STREAMS[encoding](LEVELS[encoding]) as Transform & { flush(done: (error?: Error) => void): void }
  let output: Uint8Array[] = []
  stream.on('data', (bytes: Uint8Array) => output.push(bytes))
  // Errors are reported to the writer.
  stream.on('error', () => {})
  const take = () => {
    const taken = output
    output = []
    return taken
  }
  let takenAt = performance.now()
  try {
    for await (const chunk of chunks) {
      await written((done) => stream.write(chunk, done))
      if (output.length === 0 && performance.now() - takenAt > FLUSH_MS) await written((done) => stream.flush(done))
      if (output.length > 0) takenAt = performance.now()
      yield* take()
    }
    const ended = once(stream, 'end')
    stream.end()
    await ended
    yield* take()
  } finally {
    stream.destroy()
  }
}

function written(write: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => write((error) => (error ? reject(error) : resolve())))
}
