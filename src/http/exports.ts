/**
 * Potentially large responses: lists as CSV, and documents. They are sent only as fast as the client reads, and their
 * number is limited: each needs a query, and some megabytes in its socket, as long as it lasts.
 */

import type { Caller } from '../access/caller.ts'
import { Problem } from '../errors.ts'
import { ShareLimit } from '../lib/share-limit.ts'
import type { Encoding } from './accept-encoding.ts'
import { compressedChunks } from './compression.ts'
import { RENEW_MS } from './renewal.ts'

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

/** For whom an export is, and what happens if it fails. */
interface Admission {
  caller: Caller | null
  /** Finds the caller again. Throws if they may not have the export any more; null if anybody may. */
  renew: (() => Promise<Caller>) | null
  /** Called if the rest of it cannot be made; its client only sees that the connection ends. */
  onFailure: OnFailure
}

/** Admits the exports of one application. */
export class ExportLimit {
  /** By person; 0 if the caller is not a person. */
  readonly #running = new ShareLimit<number>({ total: EXPORTS_LIMIT, perOwner: PERSON_LIMIT })

  /** Called before an export is sent. Throws `too_many_exports`. */
  admit({ outflow }: ExportResponse, { method }: Request, { caller, renew, onFailure }: Admission): void {
    const person = caller?.person.id ?? 0
    if (method === 'HEAD') {
      outflow.end()
      return
    }
    const exceeded = this.#running.exceeded(person)
    if (exceeded) {
      outflow.end()
      throw tooManyExports(exceeded === 'perOwner')
    }
    outflow.begin({
      onEnd: this.#running.begin(person),
      onFailure,
      requireRight: caller && renew && sightOf(caller, renew),
    })
  }
}

/**
 * Whether what the caller sees is what they saw when the export began: it reads all its pages with that. Throws if they may
 * not have it at all any more.
 */
function sightOf({ person }: Caller, renew: () => Promise<Caller>): () => Promise<void> {
  return async () => {
    const now = await renew()
    if (now.person.role === person.role) return
    throw new Problem('forbidden', `The role of this caller has changed to ${now.person.role}: export again.`)
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

interface Beginning {
  onEnd: () => void
  onFailure: OnFailure
  requireRight: (() => Promise<void>) | null
}

/** A stream that reads on only as the client consumes it, and ends when the client disconnects or stalls. */
class Outflow {
  readonly stream: ReadableStream<Uint8Array>
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #onEnd = () => {}
  #onFailure: OnFailure = () => {}
  #requireRight: (() => Promise<void>) | null = null
  #checkedAt = 0
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

  /** @param requireRight throws if the caller may not have the rest */
  begin({ onEnd, onFailure, requireRight }: Beginning): void {
    this.#onEnd = onEnd
    this.#onFailure = onFailure
    this.#requireRight = requireRight
    this.#checkedAt = performance.now()
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
      if (this.#requireRight && performance.now() - this.#checkedAt >= RENEW_MS) {
        await this.#requireRight()
        this.#checkedAt = performance.now()
      }
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
