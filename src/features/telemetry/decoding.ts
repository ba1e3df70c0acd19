/**
 * Takes the bodies of exports and has them read on a thread of its own. The main thread only takes the bytes in and
 * hands them over: what agents send beside the records that count must not slow down those who report.
 */
import { Problem } from '../../errors.ts'
import type { ReadResult } from './channels/reading.ts'
import type { FromDecoding } from './decoding-worker.ts'
import { BODY_LIMIT_BYTES, type Body, LIMIT_TEXT } from './otlp/decode.ts'

/**
 * Bytes of bodies that are held at a time, of all requests: two of the largest. Ten agents that send all they have hold
 * some ten megabytes for the moments that decoding takes.
 */
const HELD_LIMIT_BYTES = 2 * BODY_LIMIT_BYTES

/** Bodies that wait for their turn. A thread reads a hundred small ones in the time after which a client tries again. */
const WAITING_LIMIT = 500

/** The largest body that there can be takes two seconds. */
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
    if (contentLength !== null && contentLength > BODY_LIMIT_BYTES) throw tooLarge()
    const chunks: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const chunk of whole(stream)) {
        bytes += chunk.byteLength
        this.#heldBytes += chunk.byteLength
        if (bytes > BODY_LIMIT_BYTES) throw tooLarge()
        if (this.#heldBytes > HELD_LIMIT_BYTES) throw tooMuch()
        chunks.push(chunk)
      }
      return await this.#thread.read({ ...form, bytes: joined(chunks, bytes) })
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
    throw new Problem('bad_request', 'The body ended before it was whole.')
  }
}

/** In memory of their own, which can be handed over; empties the list, so that nothing is held twice for long. */
function joined(chunks: Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const chunk of chunks.splice(0)) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

/** One thread, which takes one body at a time: a second would take the core on which reports are written. */
class DecodingThread {
  readonly #waiting: Job[] = []
  #worker: Worker | undefined
  #job: Job | undefined
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
    const worker = new Worker(this.program)
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
    const job = this.#take()
    if ('read' in answer) job?.resolve(answer.read)
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
    return job
  }

  #end(): void {
    clearTimeout(this.#timer)
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
  }
}

function refusalOf(answer: Exclude<FromDecoding, { read: unknown }>): Error {
  if ('error' in answer) return new Error(`The worker for telemetry failed: ${answer.error}`)
  return answer.refused === 'too_large' ? tooLarge() : new Problem('bad_request', answer.message)
}

function tooLarge(): Problem {
  return new Problem('body_too_large', `The body has more than ${LIMIT_TEXT}, or would have when decompressed.`, {
    headers: { connection: 'close' },
  })
}

function tooMuch(): Problem {
  return new Problem('overloaded', 'More telemetry is being read than Tally takes at once. Send it again later.', {
    headers: RETRY_AFTER,
  })
}

function unreadable(): Problem {
  return new Problem(
    'overloaded',
    'Reading the body was given up. Send it again, in smaller parts if that is possible.',
    {
      headers: RETRY_AFTER,
    },
  )
}
