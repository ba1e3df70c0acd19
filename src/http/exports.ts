/**
 * Potentially large responses: lists as CSV, and documents. They are sent only as fast as the client reads, and their
 * number is limited: each needs a query, and some megabytes in its socket, as long as it lasts.
 */

import type { Caller } from '../access/caller.ts'
import { Problem } from '../errors.ts'
import type { Encoding } from './accept-encoding.ts'
import { compressedChunks } from './compression.ts'

/** In total: together they use less than a hundred megabytes, most of them in the sockets. */
const EXPORTS_LIMIT = 16

/** Per person, over all credentials, so that no one blocks the exports of others. */
const PERSON_LIMIT = 4

/** Bytes passed to a socket at once; the rest of a page waits. */
const PIECE_BYTES = 65_536

/** A client that reads nothing for this long is disconnected, like one that sends nothing. */
const STALL_MS = 20_000

/** Long enough for an export that no one reads to end. */
const RETRY_AFTER = { 'retry-after': '20' }

/** A response that its application has to admit before it is sent. */
export class ExportResponse extends Response {
  readonly outflow: Outflow

  constructor(outflow: Outflow, headers: Record<string, string>) {
    super(outflow.stream, { headers })
    this.outflow = outflow
  }

  /** Compresses what is sent. Call before it is. */
  encode(encoding: Encoding): void {
    this.outflow.encode(encoding)
    this.headers.set('content-encoding', encoding)
    this.headers.delete('content-length')
  }
}

/** A streamed response. */
export function streamedResponse(chunks: AsyncIterable<Uint8Array>, headers: Record<string, string>): Response {
  return new ExportResponse(new Outflow(chunks), headers)
}

/** A response from bytes in memory. Small ones are sent at once. */
export function bytesResponse(bytes: Uint8Array, headers: Record<string, string>): Response {
  if (bytes.byteLength <= PIECE_BYTES) return new Response(bytes as Uint8Array<ArrayBuffer>, { headers })
  return streamedResponse(only(bytes), { ...headers, 'content-length': String(bytes.byteLength) })
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

type OnFailure = (error: unknown) => void

/** Counts the exports of one application that are running. */
export class ExportLimit {
  #running = 0
  /** By person; 0 if the caller is not a person. */
  readonly #runningOf = new Map<number, number>()

  /**
   * Called before an export is sent. Throws `too_many_exports`.
   *
   * @param onFailure is called if the rest of it cannot be made; its client only sees that the connection ends
   */
  admit({ outflow }: ExportResponse, { method }: Request, caller: Caller | null, onFailure: OnFailure): void {
    const person = caller?.person.id ?? 0
    const own = this.#runningOf.get(person) ?? 0
    if (method === 'HEAD') outflow.end()
    else if (own >= PERSON_LIMIT || this.#running >= EXPORTS_LIMIT) {
      outflow.end()
      throw tooManyExports(own >= PERSON_LIMIT)
    } else {
      this.#running += 1
      this.#runningOf.set(person, own + 1)
      outflow.begin(() => this.#release(person), onFailure)
    }
  }

  #release(person: number): void {
    this.#running -= 1
    const left = this.#runningOf.get(person)! - 1
    if (left > 0) this.#runningOf.set(person, left)
    else this.#runningOf.delete(person)
  }
}

function tooManyExports(isOwn: boolean): Problem {
  const whose = isOwn ? `${PERSON_LIMIT} of your exports` : `${EXPORTS_LIMIT} exports`
  return new Problem('too_many_exports', `${whose} are already running. Let them finish, or try again later.`, {
    headers: RETRY_AFTER,
  })
}

async function* piecesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.byteLength; start += PIECE_BYTES) {
      yield chunk.subarray(start, start + PIECE_BYTES)
    }
  }
}

/** A stream that reads on only as the client consumes it, and ends when the client disconnects or stalls. */
class Outflow {
  readonly stream: ReadableStream<Uint8Array>
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #onEnd = () => {}
  #onFailure: OnFailure = () => {}
  #hasEnded = false
  #timer: Timer | undefined
  #pieces: AsyncGenerator<Uint8Array>

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#pieces = piecesOf(chunks)
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#pull(),
        cancel: () => this.end(),
      },
      // No query runs before the response is admitted.
      { highWaterMark: 0 },
    )
  }

  encode(encoding: Encoding): void {
    this.#pieces = compressedChunks(this.#pieces, encoding)
  }

  begin(onEnd: () => void, onFailure: OnFailure): void {
    this.#onEnd = onEnd
    this.#onFailure = onFailure
    this.#watch()
  }

  /** Ends the source of the chunks; what was already sent stays valid. */
  end(): void {
    clearTimeout(this.#timer)
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#pieces.return(undefined).catch(() => {})
    this.#onEnd()
  }

  async #pull(): Promise<void> {
    clearTimeout(this.#timer)
    try {
      const { done, value } = await this.#pieces.next()
      if (this.#hasEnded) return
      if (done) {
        this.end()
        this.#controller.close()
        return
      }
      this.#controller.enqueue(value)
      this.#watch()
    } catch (error) {
      if (!this.#hasEnded) this.#onFailure(error)
      this.end()
      throw error
    }
  }

  #watch(): void {
    this.#timer = setTimeout(() => {
      this.end()
      this.#controller.error(new Error('The client stopped reading.'))
    }, STALL_MS)
    // The timer must not delay shutdown.
    this.#timer.unref()
  }
}
