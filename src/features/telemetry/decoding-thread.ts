/**
 * Takes the bodies of exports and has them read on a thread of its own. The main thread only takes the bytes in and
 * hands them over: what agents send beside the records that count must not slow down those who report.
 */
import { Problem } from '../../errors.ts'
import { GatheredBytes } from '../../lib/gathered-bytes.ts'
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

interface Job {
  body: Body
  resolve: (read: ReadResult) => void
  reject: (reason: unknown) => void
}

/** What of a request decoding needs. */
export interface Export extends Omit<Body, 'bytes'> {
  /** As the request says; null where it does not. */
  contentLength: number | null
  stream: AsyncIterable<Uint8Array> | null
}

export class Decoding {
  readonly #thread: DecodingThread
  #heldBytes = 0

  /** The thread's program and its deadline are given by tests alone, which want threads that break. */
  constructor(program = new URL('./decoding-worker.ts', import.meta.url).href, deadlineMs = DEADLINE_MS) {
    this.#thread = new DecodingThread(program, deadlineMs)
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
      return await this.#thread.read({ ...form, bytes: gathered.take() })
    } finally {
      this.#heldBytes -= bytes
    }
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

/** One thread, which takes one body at a time: a second would take the core on which reports are written. */
class DecodingThread {
  readonly #waiting: Job[] = []
  #worker: Worker | undefined
  #job: Job | undefined
  /** Observations of the job that came ahead of the rest. */
  #observations: Observation[] = []
  /** Gives a body up at its deadline; without one, ends the thread. */
  #timer: Timer | undefined

  constructor(
    readonly program: string,
    readonly deadlineMs: number,
  ) {}

  read(body: Body): Promise<ReadResult> {
    if (this.#waiting.length >= WAITING_LIMIT) return Promise.reject(tooMuch())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, resolve, reject })
      this.#next()
    })
  }

  #next(): void {
    if (this.#job) return
    this.#job = this.#waiting.shift()
    clearTimeout(this.#timer)
    if (this.#job) {
      const { body } = this.#job
      this.#worker ??= this.#start()
      this.#worker.postMessage(body, [body.bytes.buffer as ArrayBuffer])
      this.#timer = setTimeout(() => this.#fail(), this.deadlineMs)
    } else {
      this.#timer = setTimeout(() => this.#end(), IDLE_MS)
      // Whoever stops needs not wait for it.
      this.#timer.unref()
    }
  }

  #start(): Worker {
    const worker = new Worker(this.program, { smol: true })
    worker.unref()
    worker.onmessage = ({ data }: MessageEvent<FromDecoding>) => {
      if (worker === this.#worker) this.#answer(data)
    }
    const broken = () => {
      if (worker === this.#worker) this.#fail()
    }
    worker.onerror = broken
    worker.addEventListener('close', broken)
    return worker
  }

  #answer(answer: FromDecoding): void {
    if ('part' in answer) {
      this.#observations.push(...answer.part)
      return
    }
    const ahead = this.#observations
    const job = this.#take()
    if ('read' in answer) job?.resolve({ ...answer.read, observations: ahead.concat(answer.read.observations) })
    else job?.reject(refusalOf(answer))
    this.#next()
  }

  /** The thread broke, or took too long: what it was at may be sent again, to a new one. */
  #fail(): void {
    this.#end()
    this.#take()?.reject(unreadable())
    this.#next()
  }

  #take(): Job | undefined {
    const job = this.#job
    this.#job = undefined
    this.#observations = []
    return job
  }

  #end(): void {
    clearTimeout(this.#timer)
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
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
