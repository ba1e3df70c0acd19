/**
 * Reads what a client still sends of a refused request, and drops it. Most clients send their whole body before they read
 * a response; if the connection is closed meanwhile, the system resets it, and they see a broken pipe instead of the
 * response.
 *
 * It is read before the response, though RFC 9112, section 9.6, would have it the other way round: Bun closes the
 * connection with the response if the request says `Connection: close` or is one of HTTP/1.0, which only Bun sees. And
 * nothing could end a chunked body that is endless once the response is sent.
 */
import { networkOf } from '../lib/network.ts'
import { ShareLimit } from '../lib/share-limit.ts'

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
  // Eight times the largest body that a route accepts.
  bytes: 128 * 1_048_576,
  // Of all bodies together: some 2% of a processor. Bun stops receiving while nobody reads.
  bytesPerSecond: 16 * 1_048_576,
  // The time that proxies such as nginx spend on it. In total, 480 MiB are read in it.
  ms: 30_000,
  pauseMs: 5_000,
  // Each needs some megabytes for what was received and not read, or not collected yet.
  requests: 16,
  // One network can't take what others need.
  requestsOfNetwork: 8,
}

/** The parts of a body as they arrive. If the caller stops early, the rest can still be read. */
export function partsOf({ body }: Request): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  // A reader locks the body, so there is none before a part is wanted.
  return body === null ? [] : { [Symbol.asyncIterator]: () => body.values({ preventCancel: true }) }
}

export class UnreadBodies {
  readonly #limits: Limits
  readonly #finishing: AbortSignal
  /** By network. */
  readonly #reading: ShareLimit<string>
  /** When the bytes that were read so far would have been read at the permitted rate. */
  #pacedAt = 0

  /**
   * @param finishing aborted when the server stops, which does not wait for bodies
   * @param limits only tests set them
   */
  constructor(finishing: AbortSignal, limits: Partial<Limits> = {}) {
    this.#finishing = finishing
    this.#limits = { ...LIMITS, ...limits }
    this.#reading = new ShareLimit({ total: this.#limits.requests, perOwner: this.#limits.requestsOfNetwork })
  }

  /** Whether the connection can serve another request after the response. */
  async discard({ body, headers }: Request, address: string): Promise<boolean> {
    const declared = headers.get('content-length')
    if (declared !== null && !(Number(declared) <= this.#limits.bytes)) return false
    // A locked body belongs to a reader that has read all of it, or has failed.
    if (body === null || body.locked) return true
    const network = networkOf(address)
    if (!this.#finishing.aborted && !this.#reading.exceeded(network)) {
      const isRead = await this.#readAll(body).finally(this.#reading.begin(network))
      if (isRead) return true
    }
    // Bun itself drops the rest of a cancelled body after the response, at little cost and as long as a certain rate is
    // kept up, unless it closes the connection.
    void body.cancel().catch(() => {})
    return declared !== null && !this.#finishing.aborted
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
    this.#finishing.addEventListener('abort', stop)
    try {
      for (let bytes = 0; bytes <= this.#limits.bytes; ) {
        const pause = setTimeout(stop, this.#limits.pauseMs)
        const part = await reader.read().finally(() => clearTimeout(pause))
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
      this.#finishing.removeEventListener('abort', stop)
      reader.releaseLock()
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
