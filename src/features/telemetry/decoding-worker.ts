/** Reads bodies off the main thread: one of a megabyte takes some milliseconds, the largest more than a second. */
import { wanted } from './channels/index.ts'
import { combine, type ReadResult, readSignals } from './channels/reading.ts'
import { type Body, decode, plainBytes, TooLarge } from './otlp/decode.ts'
import { Malformed } from './otlp/sieve.ts'

declare const self: Worker

export type FromDecoding =
  | { read: ReadResult }
  | { refused: 'malformed' | 'too_large'; message: string }
  | { error: string }

const post = (message: FromDecoding) => self.postMessage(message)

/**
 * A body leaves several times its size behind, and the next collection may be far: three of the largest in a row would
 * take a gigabyte. Collecting costs some milliseconds of this thread.
 */
const LARGE_BYTES = 8 * 1_048_576

self.onmessage = ({ data }: MessageEvent<Body>) => {
  let bytes = 0
  try {
    const plain = plainBytes(data)
    bytes = plain.byteLength
    const { signals, counts } = decode(data, plain, wanted)
    post({ read: combine(counts, readSignals(signals)) })
  } catch (error) {
    post(failureOf(error))
  }
  if (bytes > LARGE_BYTES) Bun.gc(true)
}

function failureOf(error: unknown): FromDecoding {
  if (error instanceof Malformed) return { refused: 'malformed', message: error.message }
  if (error instanceof TooLarge) return { refused: 'too_large', message: error.message }
  // Where it failed, and not the text, which may hold what somebody wrote.
  return { error: error instanceof Error ? `${error.name}\n${placesOf(error)}` : typeof error }
}

function placesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
}
