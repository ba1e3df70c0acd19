/**
 * Takes the bodies of exports and has them read on a thread of its own. The main thread only takes the bytes in and
 * hands them over: what agents send beside the records that count must not slow down those who report.
 */
import { Problem } from '../../errors.ts'
import { GatheredBytes } from '../../lib/gathered-bytes.ts'
import { JobThread } from '../../lib/job-thread.ts'
import type { Observation } from './channels/observation.ts'
import type { ReadResult } from './channels/reading.ts'
import type { FromDecoding } from './decoding-worker.ts'
import { BODY_LIMIT_BYTES, type Body, tooManyBytes } from './otlp/decode.ts'

/**
 * Bytes of bodies that are held at a time, of all requests, as they came: two of the largest. Ten agents that send all
 * they have hold some ten megabytes for the moments that decoding takes.
 */
const HELD_LIMIT_BYTES = 2 * BODY_LIMIT_BYTES

/** Bodies that wait for their turn. A thread reads a hundred small ones in the time after which a client tries again. */
const WAITING_LIMIT = 500

/** The largest body that there can be takes less than a second. */
const DEADLINE_MS = 30_000

/** Agents send every few seconds while they work, metrics every minute: the thread goes when none of them works. */
const IDLE_MS = 90_000

/** Long enough for the queue to become short. Exporters try for ten seconds in all, so that it leaves them some attempts. */
const RETRY_AFTER = { 'retry-after': '2' }

/** What of a request decoding needs. */
export interface Export extends Omit<Body, 'bytes'> {
  /** As the request says; null where it does not. */
  contentLength: number | null
  stream: AsyncIterable<Uint8Array> | null
}

export class Decoding {
  /** One, which reads one body at a time: a second would take the core on which reports are written. */
  readonly #thread: JobThread<Body, FromDecoding>
  #heldBytes = 0

  /** The thread's program and its deadline are given by tests alone, which want threads that break. */
  constructor(program = new URL('./decoding-worker.ts', import.meta.url).href, deadlineMs = DEADLINE_MS) {
    this.#thread = new JobThread({ program, deadlineMs, idleMs: IDLE_MS, unfinished: unreadable })
  }

  /** Throws a Problem: `bad_request`, `body_too_large`, or `overloaded` where too much is being read already. */
  async read({ contentLength, stream, ...form }: Export): Promise<ReadResult> {
    if (contentLength !== null && contentLength > BODY_LIMIT_BYTES) throw tooLarge(tooManyBytes().message)
    const gathered = new GatheredBytes(contentLength ?? BODY_LIMIT_BYTES)
    let bytes = 0
    try {
      for await (const chunk of whole(stream)) {
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
    return { ...answer.read, observations: observations.concat(answer.read.observations) }
  }
}

/** A stream that breaks off is no failure of this server. */
async function* whole(stream: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  try {
    if (stream) yield* stream
  } catch {
    throw new Problem('bad_request', 'The request body ended unexpectedly.')
  }
}

function refusalOf(answer: Exclude<FromDecoding, { read: unknown } | { part: unknown }>): Error {
  if ('error' in answer) return new Error(`The telemetry worker failed: ${answer.error}`)
  return answer.refused === 'too_much' ? tooLarge(answer.message) : new Problem('bad_request', answer.message)
}

function tooLarge(message: string): Problem {
  return new Problem('body_too_large', message, { headers: { connection: 'close' } })
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
