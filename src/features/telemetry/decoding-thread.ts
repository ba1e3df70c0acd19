/**
 * Decodes the bodies of exports on a thread of its own. The main thread only receives the bytes and passes them on:
 * records without usage, which agents send as well, must not slow down reports.
 */
import { Problem } from '../../errors.ts'
import { GatheredBytes } from '../../lib/gathered-bytes.ts'
import { JobThread } from '../../lib/job-thread.ts'
import type { Observation } from './channels/observation.ts'
import type { ReadResult } from './channels/reader.ts'
import { withSameCallsJoined } from './channels/same-calls.ts'
import type { FromDecoding } from './decoding-worker.ts'
import { BODY_LIMIT_BYTES, type Body, tooManyBytes } from './otlp/decode.ts'

/**
 * Bytes of bodies in memory at a time, of all requests, as received: two of the largest. Ten agents that send all their
 * data at once take about ten megabytes while it is decoded.
 */
const HELD_LIMIT_BYTES = 2 * BODY_LIMIT_BYTES

/** Bodies in the queue. The thread decodes a hundred small ones before a client retries. */
const WAITING_LIMIT = 500

/** The largest possible body takes less than a second. */
const DEADLINE_MS = 30_000

/** Agents send every few seconds while they work, metrics every minute: the thread ends when none of them works. */
const IDLE_MS = 90_000

/** Long enough for the queue to shrink. Exporters retry for ten seconds in total, so this leaves them a few attempts. */
const RETRY_AFTER = { 'retry-after': '2' }

/** The data of a request that decoding needs. */
export interface Export extends Omit<Body, 'bytes'> {
  /** The Content-Length header; null if it is absent. */
  contentLength: number | null
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

export class Decoding {
  /** Only one, which decodes one body at a time: another would take the core that reports are written on. */
  readonly #thread: JobThread<Body, FromDecoding>
  #heldBytes = 0

  /** Only tests set the program and the deadline, to use threads that fail. */
  constructor(program = new URL('./decoding-worker.ts', import.meta.url).href, deadlineMs = DEADLINE_MS) {
    this.#thread = new JobThread({ program, deadlineMs, idleMs: IDLE_MS, unfinished: unreadable })
  }

  /** Throws a Problem: `bad_request`, `body_too_large`, or `overloaded` if too much is being decoded already. */
  async read({ contentLength, parts, ...form }: Export): Promise<ReadResult> {
    if (contentLength !== null && contentLength > BODY_LIMIT_BYTES) throw tooLarge(tooManyBytes().message)
    const gathered = new GatheredBytes(contentLength ?? BODY_LIMIT_BYTES)
    let bytes = 0
    try {
      for await (const chunk of whole(parts)) {
        bytes += chunk.byteLength
        this.#heldBytes += chunk.byteLength
        if (bytes > BODY_LIMIT_BYTES) throw tooLarge(tooManyBytes().message)
        if (this.#heldBytes > HELD_LIMIT_BYTES) throw tooMuch()
        gathered.add(chunk)
      }
      return await this.#decode({ ...form, bytes: gathered.take() })
    } finally {
      this.#heldBytes -= bytes
    }
  }

  async #decode(body: Body): Promise<ReadResult> {
    if (this.#thread.waiting >= WAITING_LIMIT) throw tooMuch()
    const observations: Observation[] = []
    const answer = await this.#thread.run(body, [body.bytes.buffer as ArrayBuffer], (part) => {
      observations.push(...part)
    })
    if (!('read' in answer)) throw refusalOf(answer)
    return withSameCallsJoined({ ...answer.read, observations: observations.concat(answer.read.observations) })
  }
}

/** A stream that breaks off is no failure of this server. */
async function* whole(parts: Export['parts']): AsyncGenerator<Uint8Array> {
  try {
    yield* parts
  } catch {
    throw new Problem('bad_request', 'The request body ended unexpectedly.')
  }
}

function refusalOf(answer: Exclude<FromDecoding, { read: unknown } | { part: unknown }>): Error {
  if ('error' in answer) return new Error(`The telemetry worker failed: ${answer.error}`)
  return answer.refused === 'too_much' ? tooLarge(answer.message) : new Problem('bad_request', answer.message)
}

function tooLarge(message: string): Problem {
  return new Problem('body_too_large', message)
}

function tooMuch(): Problem {
  return new Problem('overloaded', 'Tally is processing too much telemetry at the moment. Retry later.', {
    headers: RETRY_AFTER,
  })
}

function unreadable(): Problem {
  return new Problem('overloaded', 'Decoding the body was aborted. Retry, with smaller batches if possible.', {
    headers: RETRY_AFTER,
  })
}
