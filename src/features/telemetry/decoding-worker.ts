/** Reads bodies off the main thread: one of a megabyte takes some milliseconds, the largest more than a second. */
import { wanted } from './channels/index.ts'
import type { Observation } from './channels/observation.ts'
import { combine, type ReadResult, SignalReading } from './channels/reading.ts'
import { type Body, decode, plainBytes } from './otlp/decode.ts'
import { Malformed, TooMuch } from './otlp/sieve.ts'

declare const self: Worker

export type FromDecoding =
  /** The first of the observations of a body with many; the others follow. */
  | { part: Observation[] }
  /** All that was read, but for the observations that went ahead. */
  | { read: ReadResult }
  | { refused: 'malformed' | 'too_much'; message: string }
  | { error: string }

const post = (message: FromDecoding) => self.postMessage(message)

/**
 * A body and what comes of it stay in memory until the next collection, which may be far. Collecting costs some
 * milliseconds of this thread.
 */
const LARGE_BYTES = 4 * 1_048_576

/** Observations kept here at a time: what is handed over would be held twice otherwise. */
const PART_OBSERVATIONS = 400

self.onmessage = ({ data }: MessageEvent<Body>) => {
  let bytes = 0
  try {
    const plain = plainBytes(data)
    bytes = plain.byteLength
    const reading = new SignalReading()
    const counts = decode(data, plain, wanted, (signal) => {
      reading.take(signal)
      if (reading.read.observations.length < PART_OBSERVATIONS) return
      post({ part: reading.read.observations.splice(0) })
      Bun.gc(true)
    })
    post({ read: combine(counts, reading.read) })
  } catch (error) {
    post(failureOf(error))
  }
  if (bytes > LARGE_BYTES) Bun.gc(true)
}

function failureOf(error: unknown): FromDecoding {
  if (error instanceof Malformed) return { refused: 'malformed', message: error.message }
  if (error instanceof TooMuch) return { refused: 'too_much', message: error.message }
  // Where it failed, and not the text, which may hold what somebody wrote.
  return { error: error instanceof Error ? `${error.name}\n${placesOf(error)}` : typeof error }
}

function placesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
}
