/** From the bytes of a request to the signals that are wanted. Pure; runs on a thread of its own. */
import { gunzipSync } from 'node:zlib'
import type { Counts, Signal, Wanted } from '../signals.ts'
import { JSON_VALUES, jsonLogs, jsonPoints, jsonSpans } from './json.ts'
import { ProtobufBody } from './protobuf.ts'
import { Malformed, Sieve } from './sieve.ts'

/** The three requests of OTLP, as their paths name them. */
export type Kind = 'logs' | 'metrics' | 'traces'

export interface Body {
  kind: Kind
  encoding: 'json' | 'protobuf'
  gzip: boolean
  bytes: Uint8Array
}

export interface Decoded {
  signals: Signal[]
  counts: Counts
}

/** What the largest request may have, and what may come of a compressed one. Agents send up to a few megabytes. */
const LIMIT_MIB = 64
export const BODY_LIMIT_BYTES = LIMIT_MIB * 1_048_576
export const LIMIT_TEXT = `${LIMIT_MIB} MiB`

/** Of more than {@link BODY_LIMIT_BYTES} once it is decompressed. */
export class TooLarge extends Error {}

/** The bytes as they are when nothing is compressed. Throws {@link Malformed} or {@link TooLarge}. */
export function plainBytes({ gzip, bytes }: Body): Uint8Array {
  return gzip ? gunzipped(bytes) : bytes
}

/** Throws {@link Malformed}. */
export function decode({ kind, encoding }: Body, plain: Uint8Array, wanted: Wanted): Decoded {
  return encoding === 'json' ? decodeJson(kind, plain, wanted) : decodeProtobuf(kind, plain, wanted)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const JSON_READERS = { logs: jsonLogs, metrics: jsonPoints, traces: jsonSpans }

function decodeJson(kind: Kind, bytes: Uint8Array, wanted: Wanted): Decoded {
  const sieve = new Sieve(wanted, JSON_VALUES)
  const signals = JSON_READERS[kind](textOf(bytes), sieve)
  return { signals, counts: sieve.counts() }
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Malformed('The body is not valid UTF-8.')
  }
}

const PROTOBUF_READERS = { logs: 'logs', metrics: 'points', traces: 'spans' } as const

function decodeProtobuf(kind: Kind, bytes: Uint8Array, wanted: Wanted): Decoded {
  const body = new ProtobufBody(bytes)
  const sieve = new Sieve(wanted, body)
  try {
    const signals = body[PROTOBUF_READERS[kind]](sieve)
    return { signals, counts: sieve.counts() }
  } catch (error) {
    if (error instanceof Malformed) throw error
    // Whatever the reader of bytes throws, it throws because of the bytes.
    throw new Malformed('The body is not the Protocol Buffers message that OTLP sends here.')
  }
}

function gunzipped(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: BODY_LIMIT_BYTES })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw new TooLarge()
    throw new Malformed('The body is not what gzip makes, though its Content-Encoding says so.')
  }
}
