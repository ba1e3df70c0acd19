/**
 * Limits the calls of each token, so that a runaway agent does not keep others from reporting. Counted in memory: where
 * several servers share a database, each tells the others of a token's calls once they are a twentieth of its share, so
 * that a call costs no query, and all servers together allow hardly more than one.
 */

import type { Caller } from '../access/caller.ts'
import { Problem } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'

const MINUTE_MS = 60_000

/** How often tokens with a full share are removed, so that memory is bounded. */
const SWEEP_EVERY_MS = 10 * MINUTE_MS

/** Calls of a token that other servers need not know of, as the time in which they are restored. */
const UNSHARED_MS = MINUTE_MS / 20

/** Less than a call at any limit: sums of fractions are not exact. */
const ROUNDING_MS = 1e-5

interface Bucket {
  /** When the whole share is there again. */
  fullAt: number
  at: number
  /** The time by which `fullAt` is later than other servers know. */
  unsharedMs: number
}

/** Calls of a token, as the time in which its share is restored. */
export interface SharedCalls {
  tokenId: number
  busyMs: number
}

/** Adds calls to those of all servers. Returns, in the same order, when the share of each token is full again. */
export type ShareCalls = (calls: readonly SharedCalls[], now: number) => Promise<number[]>

function rateLimited(waitMs: number, perMinute: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  const detail = `This token is limited to ${perMinute.toLocaleString('en')} requests per minute. Try again in ${seconds} s. A batch carries up to 1,000 entries in one request.`
  return new Problem('rate_limited', detail, { headers: { 'retry-after': String(seconds) } })
}

export class RateLimits {
  readonly #buckets = new Map<number, Bucket>()
  readonly #unshared = new Set<number>()
  #isSharing = false
  #sweptAt: number

  constructor(
    readonly clock: Clock,
    /** A minute's share may be used at once, and is restored evenly. */
    readonly perMinute: number,
    /** Undefined if no other server can use the database. */
    readonly share?: ShareCalls | undefined,
  ) {
    this.#sweptAt = clock.now()
  }

  /** Counts a call of a token. Throws `rate_limited`, with `Retry-After`. Signed-in people are not counted. */
  count(caller: Caller): void {
    if (caller.kind === 'session') return
    const now = this.clock.now()
    if (now - this.#sweptAt > SWEEP_EVERY_MS) this.#sweep(now)
    const callMs = MINUTE_MS / this.perMinute
    const bucket = this.#bucketOf(caller.token.id, now)
    const waitMs = bucket.fullAt + callMs - MINUTE_MS - now
    if (waitMs > ROUNDING_MS) throw rateLimited(waitMs, this.perMinute)
    bucket.fullAt += callMs
    bucket.unsharedMs += callMs
    if (this.share && bucket.unsharedMs >= UNSHARED_MS) {
      this.#unshared.add(caller.token.id)
      void this.#shareAll(this.share)
    }
  }

  #bucketOf(tokenId: number, now: number): Bucket {
    let bucket = this.#buckets.get(tokenId)
    if (!bucket) {
      bucket = { fullAt: now, at: now, unsharedMs: 0 }
      this.#buckets.set(tokenId, bucket)
    }
    // If the clock was set back, the share does not change.
    bucket.fullAt = Math.max(now, bucket.fullAt - Math.max(0, bucket.at - now))
    bucket.at = now
    return bucket
  }

  /** One exchange at a time, for all tokens that wait for it. */
  async #shareAll(share: ShareCalls): Promise<void> {
    if (this.#isSharing) return
    this.#isSharing = true
    try {
      while (this.#unshared.size > 0) await this.#shareSome(share)
    } catch {
      // A later call of the token shares these as well. Whether the database answers, every request shows.
    } finally {
      this.#isSharing = false
    }
  }

  async #shareSome(share: ShareCalls): Promise<void> {
    const now = this.clock.now()
    const shared = [...this.#unshared].map((tokenId) => {
      const bucket = this.#bucketOf(tokenId, now)
      return { tokenId, bucket, busyMs: Math.round(bucket.unsharedMs) }
    })
    this.#unshared.clear()
    const fullAt = await share(shared, now)
    for (const [at, { bucket, busyMs }] of shared.entries()) {
      bucket.unsharedMs -= busyMs
      bucket.fullAt = fullAt[at]! + bucket.unsharedMs
    }
  }

  #sweep(now: number): void {
    this.#sweptAt = now
    for (const [token, { fullAt }] of this.#buckets) if (fullAt < now) this.#buckets.delete(token)
  }
}
