/**
 * How much Tally takes in at once. What is beyond is told so at once, with when to come back: agents repeat, and nothing
 * waits in memory without a bound.
 */
import { Problem } from '../errors.ts'

/**
 * Requests that are not answered yet. A server keeps up with a few hundred; so many more wait for something that is
 * stuck, each with its body and its socket, of which systems give a process 1,024 to some thousands.
 */
export const REQUEST_LIMIT = 4_000

/** Bodies from this size on are counted; of smaller ones the limit of requests allows 64 MB. */
export const COUNTED_BYTES = 16_384

/** Larger bodies held at once, as they came: eight of the largest batches. */
const HELD_LIMIT_BYTES = 64 * 1_048_576

/** Memory for what is made of larger bodies: a few batches of the worst kind, ten of a thousand ordinary reports. */
const PARSED_LIMIT_BYTES = 64 * 1_048_576

function overloaded(detail: string): Problem {
  return new Problem('overloaded', `${detail} Nothing was written; try again.`, { headers: { 'retry-after': '1' } })
}

/** Throws `overloaded` if there are too many pending requests. */
export function requireRoom(pendingRequests: number, limit: number): void {
  if (pendingRequests > limit) throw overloaded(`More than ${limit.toLocaleString('en')} requests are pending.`)
}

interface WaitingBody {
  request: Request
  bytes: number
  resolve: () => void
}

/** The memory that bodies of one application's requests take, from their first bytes until the request is answered. */
export class BodyMemory {
  #heldBytes = 0
  readonly #heldBy = new WeakMap<Request, number>()
  #parsedBytes = 0
  readonly #parsedBy = new WeakMap<Request, number>()
  readonly #waiting: WaitingBody[] = []

  /** Notes that so many bytes more of a request's body are held until it is answered. Throws `overloaded`. */
  hold(request: Request, bytes: number): void {
    if (bytes < COUNTED_BYTES && !this.#heldBy.has(request)) return
    if (this.#heldBytes + bytes > HELD_LIMIT_BYTES) {
      throw overloaded(`More than ${HELD_LIMIT_BYTES / 1_048_576} MiB of large request bodies are being processed.`)
    }
    this.#heldBytes += bytes
    this.#heldBy.set(request, (this.#heldBy.get(request) ?? 0) + bytes)
  }

  /**
   * Notes how much memory a request's body takes until it is answered, once it is parsed. Where there is too little, the
   * request waits for those before it, which have theirs already and so never wait for it; its bytes are counted above.
   */
  holdParsed(request: Request, bytes: number): Promise<void> | undefined {
    if (bytes < COUNTED_BYTES) return undefined
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) {
      this.#take(request, bytes)
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push({ request, bytes, resolve }))
  }

  /** The request is answered, or never will be. */
  release(request: Request): void {
    this.#heldBytes -= this.#heldBy.get(request) ?? 0
    this.#heldBy.delete(request)
    const parsed = this.#parsedBy.get(request)
    if (parsed === undefined) return
    this.#parsedBytes -= parsed
    this.#parsedBy.delete(request)
    while (this.#waiting.length > 0 && this.#hasRoom(this.#waiting[0]!.bytes)) {
      const next = this.#waiting.shift()!
      this.#take(next.request, next.bytes)
      next.resolve()
    }
  }

  /** A body that takes more than there ever is has it alone. */
  #hasRoom(bytes: number): boolean {
    return this.#parsedBytes === 0 || this.#parsedBytes + bytes <= PARSED_LIMIT_BYTES
  }

  #take(request: Request, bytes: number): void {
    this.#parsedBytes += bytes
    this.#parsedBy.set(request, bytes)
  }
}
