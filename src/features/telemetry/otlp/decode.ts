/** Decodes the bytes of a request to the signals that channels read. Pure; runs on a thread of its own. */
import { isUtf8 } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import type { Counts, Signal, SignalFilter } from '../signals.ts'
import { JsonBody } from './json.ts'
import { ProtobufBody } from './protobuf.ts'
import { Malformed, Sieve, TooMuch, tooMuchOf } from './sieve.ts'

/** The three requests of OTLP, named as in their paths. */
export type Kind = 'logs' | 'metrics' | 'traces'

export interface Body {
  kind: Kind
  encoding: 'json' | 'protobuf'
  gzip: boolean
  bytes: Uint8Array
}

/**
 * The limit of a request, and of a compressed one after decompression. Agents send up to a few megabytes; a Collector's
 * 8,192 records take about twelve as JSON.
 */
const LIMIT_MIB = 16
export const BODY_LIMIT_BYTES = LIMIT_MIB * 1_048_576

/** Records with usage; each takes a few hundred bytes here, and again when it is saved. */
const SIGNALS_LIMIT = 9_000

export const tooManyBytes = () => tooMuchOf(`${LIMIT_MIB} MiB, before or after decompression`)

/** The decompressed bytes. Throws {@link Malformed} or {@link TooMuch}. */
export function plainBytes({ gzip, bytes }: Body): Uint8Array {
  return gzip ? gunzipped(bytes) : bytes
}

/** Passes on every signal that is read, one by one. Throws {@link Malformed} or {@link TooMuch}. */
export function decode(
  { kind, encoding }: Pick<Body, 'kind' | 'encoding'>,
  plain: Uint8Array,
  filter: SignalFilter,
  take: (signal: Signal) => void,
): Counts {
  const body = encoding === 'json' ? jsonBody(plain) : new ProtobufBody(plain)
  const sieve = new Sieve(filter, body)
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
    // All errors of the reader of bytes are caused by the bytes.
    throw new Malformed('The body is not the Protocol Buffers message that OTLP defines for this endpoint.')
  }
}

const READERS = { logs: 'logs', metrics: 'points', traces: 'spans' } as const

function jsonBody(bytes: Uint8Array): JsonBody {
  if (!isUtf8(bytes)) throw new Malformed('The body is not valid UTF-8.')
  return new JsonBody(bytes)
}

/** The initial buffer if the decompressed size is unknown. */
const SMALL_BYTES = 65_536

/** Into a single buffer, because joining several would take the memory of both. */
function gunzipped(bytes: Uint8Array): Uint8Array {
  const size = declaredSize(bytes)
  return (
    (size <= BODY_LIMIT_BYTES ? gunzipUpTo(bytes, size) : undefined) ??
    gunzipUpTo(bytes, BODY_LIMIT_BYTES) ??
    tooLarge()
  )
}

/** The decompressed size in the last four bytes, which is correct if the body is a single, valid gzip member. */
function declaredSize(bytes: Uint8Array): number {
  const size =
    bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4, 4).getUint32(0, true)
  return Math.max(size, SMALL_BYTES)
}

function tooLarge(): never {
  throw tooManyBytes()
}

/** Undefined if the result is larger. */
function gunzipUpTo(bytes: Uint8Array, limit: number): Uint8Array | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: limit, chunkSize: limit + 1 })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw new Malformed('The body is not valid gzip data, although Content-Encoding is gzip.')
  }
}
