/** How often somebody tried a wrong password of late. In memory: a restart forgives, and one cannot be had from outside. */
import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'

/** promises.md, "Safe". A person who mistypes does not come near it; a guesser gets 14,400 a day, of 2^40 or more. */
const FAILURE_LIMIT = 10
const WINDOW_MS = 60_000

/** More than can fail in a minute, as each attempt waits for a hash. Some 2 MB; beyond it the oldest are forgiven. */
const KEPT_LIMIT = 10_000

function tooManyAttempts(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1_000)
  return new Problem('too_many_attempts', `Too many attempts failed. Try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

export class Attempts {
  /** The moments of each key's failures, oldest first; the key that failed last comes last. */
  readonly #failures = new Map<string, number[]>()

  constructor(readonly clock: Clock) {}

  /**
   * Runs `attempt`, which answers undefined where it failed, and counts it under every key. It counts while it runs:
   * else a thousand tried at once would all be let through. Throws `too_many_attempts`, with `Retry-After`, without
   * running it where a key has had its share.
   */
  async try<Result>(keys: readonly string[], attempt: () => Promise<Result | undefined>): Promise<Result | undefined> {
    const now = this.clock.now()
    const waitMs = Math.max(...keys.map((key) => this.#waitMs(key, now)))
    if (waitMs > 0) throw tooManyAttempts(waitMs)
    for (const key of keys) this.#count(key, now)
    let failed = false
    try {
      const result = await attempt()
      failed = result === undefined
      return result
    } finally {
      if (!failed) for (const key of keys) this.#forgive(key, now)
    }
  }

  #recent(key: string, now: number): number[] {
    return (this.#failures.get(key) ?? []).filter((at) => at > now - WINDOW_MS)
  }

  #waitMs(key: string, now: number): number {
    const recent = this.#recent(key, now)
    return recent.length < FAILURE_LIMIT ? 0 : recent[recent.length - FAILURE_LIMIT]! + WINDOW_MS - now
  }

  #count(key: string, now: number): void {
    const recent = this.#recent(key, now)
    this.#failures.delete(key)
    for (const [oldest, moments] of this.#failures) {
      const over = moments.at(-1)! <= now - WINDOW_MS
      if (!over && this.#failures.size < KEPT_LIMIT) break
      this.#failures.delete(oldest)
    }
    this.#failures.set(key, [...recent, now])
  }

  #forgive(key: string, at: number): void {
    const moments = this.#failures.get(key)
    const index = moments?.indexOf(at) ?? -1
    if (index === -1) return
    moments!.splice(index, 1)
    if (moments!.length === 0) this.#failures.delete(key)
  }
}

/** One who has an IPv6 address has 2^64 of them: the network is what tells them from others. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('%', 1)[0]!.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}
