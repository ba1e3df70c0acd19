/** From the bytes of a request to the signals that are wanted. Pure; runs on a thread of its own. */
import { isUtf8 } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import type { Counts, Signal, Wanted } from '../signals.ts'
import { JsonBody } from './json.ts'
import { ProtobufBody } from './protobuf.ts'
import { Malformed, Sieve, TooMuch, tooMuchOf } from './sieve.ts'

/** The three requests of OTLP, as their paths name them. */
export type Kind = 'logs' | 'metrics' | 'traces'

export interface Body {
  kind: Kind
  encoding: 'json' | 'protobuf'
  gzip: boolean
  bytes: Uint8Array
}

/**
 * What the largest request may have, and what may come of a compressed one. Agents send up to a few megabytes, a
 * Collector's 8,192 records have about twelve as JSON.
 */
const LIMIT_MIB = 16
export const BODY_LIMIT_BYTES = LIMIT_MIB * 1_048_576

/** Records that say what was used; each is a few hundred bytes here, and again where it is written. */
const SIGNALS_LIMIT = 9_000

export const tooManyBytes = () => tooMuchOf(`${LIMIT_MIB} MiB, before or after decompression`)

/** The bytes as they are when nothing is compressed. Throws {@link Malformed} or {@link TooMuch}. */
export function plainBytes({ gzip, bytes }: Body): Uint8Array {
  return gzip ? gunzipped(bytes) : bytes
}

/** Hands over every signal that is wanted, one by one. Throws {@link Malformed} or {@link TooMuch}. */
export function decode(
  { kind, encoding }: Pick<Body, 'kind' | 'encoding'>,
  plain: Uint8Array,
  wanted: Wanted,
  take: (signal: Signal) => void,
): Counts {
  const body = encoding === 'json' ? jsonBody(plain) : new ProtobufBody(plain)
  const sieve = new Sieve(wanted, body)
  let signals = 0
  let failure: unknown
  try {
    body[READERS[kind]](sieve, (signal) => {
      signals += 1
      if (signals > SIGNALS_LIMIT) throw tooMuchOf(`${SIGNALS_LIMIT.toLocaleString('en')} usage records`)
      try {
        take(signal)
      } catch (error) {
        failure = error
        throw error
      }
    })
    return sieve.counts()
  } catch (error) {
    if (error === failure || error instanceof Malformed || error instanceof TooMuch || encoding === 'json') throw error
    // Whatever the reader of bytes throws, it throws because of the bytes.
    throw new Malformed('The body is not the Protocol Buffers message that OTLP defines for this endpoint.')
  }
}

const READERS = { logs: 'logs', metrics: 'points', traces: 'spans' } as const

function jsonBody(bytes: Uint8Array): JsonBody {
  if (!isUtf8(bytes)) throw new Malformed('The body is not valid UTF-8.')
  return new JsonBody(bytes)
}

/** What comes of a small body, where nothing is known of how much that is. */
const SMALL_BYTES = 65_536

/** Into a single buffer, because several would have to be joined, which takes the memory of both. */
function gunzipped(bytes: Uint8Array): Uint8Array {
  const said = sizeSaid(bytes)
  return (
    (said <= BODY_LIMIT_BYTES ? gunzipUpTo(bytes, said) : undefined) ??
    gunzipUpTo(bytes, BODY_LIMIT_BYTES) ??
    tooLarge()
  )
}

/** The last four bytes say what comes of all, where the body is a single gzip file and does not lie. */
function sizeSaid(bytes: Uint8Array): number {
  const said =
    bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4, 4).getUint32(0, true)
  return Math.max(said, SMALL_BYTES)
}

function tooLarge(): never {
  throw tooManyBytes()
}

/** Undefined where more comes of it. */
function gunzipUpTo(bytes: Uint8Array, limit: number): Uint8Array | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: limit, chunkSize: limit + 1 })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw new Malformed('The body is not valid gzip data, although Content-Encoding is gzip.')
  }
}
