/**
 * Limits of concurrent work. Excess requests are refused immediately with a time to retry: agents repeat, and memory
 * use stays bounded.
 */
import { Problem } from '../errors.ts'

/**
 * Pending requests. A server handles a few hundred; this many wait for something that is stuck, each with its body and
 * its socket, and systems allow a process from 1,024 to some thousand sockets.
 */
export const REQUEST_LIMIT = 4_000

/** Bodies from this size on are counted; with smaller ones, the limit of requests allows 64 MB. */
export const COUNTED_BYTES = 16_384

/** Total of larger bodies in memory, unparsed: eight of the largest batches. */
const HELD_LIMIT_BYTES = 64 * 1_048_576

/**
 * Memory for the parsed content of larger bodies: a few batches of the worst kind, ten of a thousand ordinary reports.
 */
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

/** Memory for the bodies of one application, from their first bytes until the response. */
export class BodyMemory {
  #heldBytes = 0
  readonly #heldBy = new WeakMap<Request, number>()
  #parsedBytes = 0
  readonly #parsedBy = new WeakMap<Request, number>()
  readonly #waiting: WaitingBody[] = []

  /** Reserves memory for bytes of a request's body until its response. Throws `overloaded`. */
  hold(request: Request, bytes: number): void {
    if (bytes < COUNTED_BYTES && !this.#heldBy.has(request)) return
    if (this.#heldBytes + bytes > HELD_LIMIT_BYTES) {
      throw overloaded(`More than ${HELD_LIMIT_BYTES / 1_048_576} MiB of large request bodies are being processed.`)
    }
    this.#heldBytes += bytes
    this.#heldBy.set(request, (this.#heldBy.get(request) ?? 0) + bytes)
  }

  /**
   * Reserves memory for a request's parsed body until its response. If there is too little, the request waits for
   * earlier ones, which already have theirs and so never wait for it; its bytes are counted above.
   */
  holdParsed(request: Request, bytes: number): Promise<void> | undefined {
    if (bytes < COUNTED_BYTES) return undefined
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) {
      this.#take(request, bytes)
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push({ request, bytes, resolve }))
  }

  /** The response was sent, or never will be. */
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

  /** A body that exceeds the total limit is parsed alone. */
  #hasRoom(bytes: number): boolean {
    return this.#parsedBytes === 0 || this.#parsedBytes + bytes <= PARSED_LIMIT_BYTES
  }

  #take(request: Request, bytes: number): void {
    this.#parsedBytes += bytes
    this.#parsedBy.set(request, bytes)
  }
}
