/** Reads bodies off the main thread: one of a megabyte takes some milliseconds, the largest more than a second. */
import { combine, type ReadResult, readSignals, wanted } from './channels/index.ts'
import { type Body, decode, TooLarge } from './otlp/decode.ts'
import { Malformed } from './otlp/sieve.ts'

declare const self: Worker

export type FromDecoding =
  | { read: ReadResult }
  | { refused: 'malformed' | 'too_large'; message: string }
  | { error: string }

const post = (message: FromDecoding) => self.postMessage(message)

self.onmessage = ({ data }: MessageEvent<Body>) => {
  try {
    const { signals, counts } = decode(data, wanted)
    post({ read: combine(counts, readSignals(signals)) })
  } catch (error) {
    if (error instanceof Malformed) post({ refused: 'malformed', message: error.message })
    else if (error instanceof TooLarge) post({ refused: 'too_large', message: error.message })
    // Where it failed, and not the text, which may hold what somebody wrote.
    else post({ error: error instanceof Error ? `${error.name}\n${placesOf(error)}` : typeof error })
  }
}

function placesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
}
