/** Decodes bodies off the main thread: one of a megabyte takes a few milliseconds, the largest more than a second. */
import { answerJobs } from '../../lib/job-thread.ts'
import { signalFilter } from './channels/index.ts'
import type { Observation } from './channels/observation.ts'
import { combine, type ReadResult, SignalReading } from './channels/reader.ts'
import { type Body, decode, plainBytes } from './otlp/decode.ts'
import { Malformed, TooMuch } from './otlp/sieve.ts'

export type FromDecoding =
  /** The first observations of a body with many; the others follow. */
  | { part: Observation[] }
  /** The result, without the observations that were already sent. */
  | { read: ReadResult }
  | { refused: 'malformed' | 'too_much'; message: string }
  | { error: string }

/**
 * A body and its results stay in memory until the next garbage collection, which may be far off. Collecting costs a few
 * milliseconds of this thread.
 */
const LARGE_BYTES = 4 * 1_048_576

/** Observations per message: otherwise all would be in memory twice. */
const PART_OBSERVATIONS = 400

answerJobs<Body, FromDecoding>((body, post) => {
  let bytes = 0
  try {
    const plain = plainBytes(body)
    bytes = plain.byteLength
    const reading = new SignalReading()
    const counts = decode(body, plain, signalFilter, (signal) => {
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
})

function failureOf(error: unknown): FromDecoding {
  if (error instanceof Malformed) return { refused: 'malformed', message: error.message }
  if (error instanceof TooMuch) return { refused: 'too_much', message: error.message }
  // Only the stack, not the message, which may contain text from the body.
  return { error: error instanceof Error ? `${error.name}\n${placesOf(error)}` : typeof error }
}

function placesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
}
