/**
 * Reads what a client still sends of a refused request, and drops it. Most clients send their whole body before they read
 * a response; if the connection is closed meanwhile, the system resets it, and they see a broken pipe instead of the
 * response.
 *
 * After a response, Bun reads on and drops a body at little cost, as long as a certain rate is kept up: a declared length
 * limits that. A chunked body could be endless, and nothing can end it once the response is sent, so that it is read
 * here before, up to a limit (RFC 9112, section 9.6, would have it the other way round).
 */
import { addCount } from '../lib/counts.ts'
import { networkOf } from '../lib/network.ts'

interface Limits {
  bytes: number
  bytesPerSecond: number
  ms: number
  /** How long the client may send nothing. */
  pauseMs: number
  requests: number
  requestsOfNetwork: number
}

const LIMITS: Limits = {
  // Four times the largest body that a route accepts.
  bytes: 64 * 1_048_576,
  // Of all chunked bodies together: some 2% of a processor. Bun stops receiving while nobody reads.
  bytesPerSecond: 16 * 1_048_576,
  // The time that proxies such as nginx spend on it, and enough for all of these requests at this rate.
  ms: 30_000,
  pauseMs: 5_000,
  // Each needs some megabytes for what was received and not read, or not collected yet.
  requests: 6,
  // One network can't take what others need.
  requestsOfNetwork: 3,
}

/** The parts of a body as they arrive. If the caller stops early, the rest can still be dropped. */
export function partsOf({ body, headers }: Request): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  // Bun itself drops what is left of a cancelled body.
  return body?.values({ preventCancel: !headers.has('content-length') }) ?? []
}

export class UnreadBodies {
  readonly #limits: Limits
  #requests = 0
  readonly #requestsByNetwork = new Map<string, number>()
  /** When the bytes that were read so far would have been read at the permitted rate. */
  #pacedAt = 0

  /** Only tests set limits. */
  constructor(limits: Partial<Limits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Whether all of the body has been read or will be, so that the connection can stay open. */
  discard(request: Request, address: string): boolean | Promise<boolean> {
    const length = request.headers.get('content-length')
    if (length !== null) return Number(length) <= this.#limits.bytes
    // A locked body belongs to a reader that has read all of it, or has failed.
    if (request.body === null || request.body.locked) return true
    return this.#discardChunked(request.body, networkOf(address))
  }

  async #discardChunked(body: ReadableStream<Uint8Array>, network: string): Promise<boolean> {
    if (!this.#admit(network)) return false
    try {
      return await this.#readAll(body)
    } finally {
      this.#release(network)
    }
  }

  #admit(network: string): boolean {
    const { requests, requestsOfNetwork } = this.#limits
    if (this.#requests >= requests) return false
    if ((this.#requestsByNetwork.get(network) ?? 0) >= requestsOfNetwork) return false
    this.#requests += 1
    addCount(this.#requestsByNetwork, network)
    return true
  }

  #release(network: string): void {
    this.#requests -= 1
    const left = this.#requestsByNetwork.get(network)! - 1
    if (left > 0) this.#requestsByNetwork.set(network, left)
    else this.#requestsByNetwork.delete(network)
  }

  async #readAll(body: ReadableStream<Uint8Array>): Promise<boolean> {
    const reader = body.getReader()
    let isStopped = false
    // Ends the pending read.
    const stop = () => {
      isStopped = true
      void reader.cancel().catch(() => {})
    }
    const end = setTimeout(stop, this.#limits.ms)
    const pause = setTimeout(stop, this.#limits.pauseMs)
    try {
      for (let bytes = 0; bytes <= this.#limits.bytes; pause.refresh()) {
        const part = await reader.read()
        if (part.done) return !isStopped
        bytes += part.value.byteLength
        await this.#pace(part.value.byteLength)
      }
      return false
    } catch {
      // The client has closed the connection.
      return false
    } finally {
      clearTimeout(end)
      clearTimeout(pause)
    }
  }

  /** Waits as long as these bytes may take. */
  #pace(bytes: number): Promise<void> | undefined {
    const now = performance.now()
    this.#pacedAt = Math.max(this.#pacedAt, now) + (1_000 * bytes) / this.#limits.bytesPerSecond
    const waitMs = this.#pacedAt - now
    // Timers are not more precise than this.
    return waitMs < 1 ? undefined : Bun.sleep(waitMs)
  }
}
