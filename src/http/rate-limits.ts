/**
 * Limits the calls of each token, so that a runaway agent does not keep others from reporting. In memory: after a
 * restart every token has its full share again.
 */

import type { Caller } from '../access/caller.ts'
import { Problem } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'

const MINUTE_MS = 60_000

/** How often tokens with a full share are removed, so that memory is bounded. */
const SWEEP_EVERY_MS = 10 * MINUTE_MS

interface Bucket {
  /** Remaining calls. */
  left: number
  at: number
}

function rateLimited(waitMs: number, perMinute: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  const detail = `This token is limited to ${perMinute.toLocaleString('en')} requests per minute. Try again in ${seconds} s. A batch carries up to 1,000 entries in one request.`
  return new Problem('rate_limited', detail, { headers: { 'retry-after': String(seconds) } })
}

export class RateLimits {
  readonly #buckets = new Map<number, Bucket>()
  #sweptAt: number

  constructor(
    readonly clock: Clock,
    /** A minute's share may be used at once, and is restored evenly. */
    readonly perMinute: number,
  ) {
    this.#sweptAt = clock.now()
  }

  /** Counts a call of a token. Throws `rate_limited`, with `Retry-After`. Signed-in people are not counted. */
  count(caller: Caller): void {
    if (caller.kind === 'session') return
    const now = this.clock.now()
    if (now - this.#sweptAt > SWEEP_EVERY_MS) this.#sweep(now)
    const bucket = this.#buckets.get(caller.token.id)
    const left = bucket ? this.#refilled(bucket, now) : this.perMinute
    const isAllowed = left >= 1
    this.#buckets.set(caller.token.id, { left: isAllowed ? left - 1 : left, at: now })
    if (!isAllowed) throw rateLimited(((1 - left) / this.perMinute) * MINUTE_MS, this.perMinute)
  }

  #refilled({ left, at }: Bucket, now: number): number {
    // If the clock was set back, the share does not change.
    const earned = (Math.max(0, now - at) / MINUTE_MS) * this.perMinute
    return Math.min(this.perMinute, left + earned)
  }

  #sweep(now: number): void {
    this.#sweptAt = now
    for (const [token, { at }] of this.#buckets) if (now - at > MINUTE_MS) this.#buckets.delete(token)
  }
}
