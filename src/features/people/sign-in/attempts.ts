/**
 * Counts recent failed attempts, and how long callers have to wait for the next one: the more failures, the longer.
 * Kept in memory per process: a restart clears it, but can't be triggered from outside.
 */
import { Problem } from '../../../errors.ts'
import { makeRoom } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000

/** How failures of one kind of key count. */
interface Rule {
  /** Failures before the first pause. */
  free: number
  /** The first pause, which doubles with each further failure. */
  firstPauseMs: number
  longestPauseMs: number
  /** The time after which one failure is forgiven. */
  forgivenMs: number
}

const RULES = {
  /**
   * An address that tries one account (the e-mail address and the network), an address that tries many, and a browser
   * that signed in before, which may be stolen: ten failures, then a minute, and then about four attempts per quarter
   * of an hour.
   */
  pair: { free: 10, firstPauseMs: MINUTE_MS, longestPauseMs: 15 * MINUTE_MS, forgivenMs: 5 * MINUTE_MS },
  network: { free: 10, firstPauseMs: MINUTE_MS, longestPauseMs: 15 * MINUTE_MS, forgivenMs: MINUTE_MS },
  device: { free: 10, firstPauseMs: MINUTE_MS, longestPauseMs: 15 * MINUTE_MS, forgivenMs: 5 * MINUTE_MS },
  /**
   * An account that is tried from several addresses; a single one is stopped earlier. The pauses start short, because
   * they also affect the owner in browsers that never signed in before: attackers still get only about 600 attempts a
   * day, of 2^40 or more.
   */
  account: { free: 20, firstPauseMs: SECOND_MS, longestPauseMs: 5 * MINUTE_MS, forgivenMs: 5 * MINUTE_MS },
} as const satisfies Record<string, Rule>

export interface AttemptKey {
  kind: keyof typeof RULES
  of: string
}

/** After this time without a failure, pauses start short again. */
const EPISODE_MS = 60 * MINUTE_MS

/** About 3 MB each, for keys without and with pauses. Beyond it the oldest are dropped. */
const KEPT_LIMIT = 10_000

interface Failures {
  /** Failures that are not forgiven yet. */
  count: number
  /** The time up to which failures were forgiven. */
  forgivenAt: number
  failedAt: number
  /** Pauses so far, each twice as long as the previous one. */
  pauses: number
  pausedUntil: number
  isReported: boolean
}

function tooManyAttempts(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / SECOND_MS)
  return new Problem('too_many_attempts', `Too many failed attempts. Try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

const textOf = ({ kind, of }: AttemptKey) => `${kind} ${of}`

export class Attempts {
  /** The most recent failure comes last. Two maps, so that many single failures cannot displace those with pauses. */
  readonly #unpaused = new Map<string, Failures>()
  readonly #paused = new Map<string, Failures>()

  constructor(
    readonly clock: Clock,
    /**
     * Called with an account that strangers have to pause for: once per episode and address, and once for all
     * addresses.
     */
    readonly onSlowed: (account: string) => void = () => undefined,
  ) {}

  /** The number of keys. */
  get size(): number {
    return this.#paused.size + this.#unpaused.size
  }

  /** The time until an attempt under these keys is allowed; 0 if it is allowed now. */
  waitMs(keys: readonly AttemptKey[]): number {
    const now = this.clock.now()
    return Math.max(0, ...keys.map((key) => (this.#find(key, now)?.pausedUntil ?? now) - now))
  }

  /**
   * Runs `attempt`, which returns undefined if it failed, and counts a failure under every key. It also counts while it
   * runs: otherwise a thousand concurrent attempts would all be allowed. Throws `too_many_attempts`, with
   * `Retry-After`, without running it if a key has to wait.
   */
  async try<Result>(
    keys: readonly AttemptKey[],
    attempt: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const waitMs = this.waitMs(keys)
    if (waitMs > 0) throw tooManyAttempts(waitMs)
    const counted = keys.map((key) => this.#count(key))
    let failed = false
    try {
      const result = await attempt()
      failed = result === undefined
      // A caller with the right password was not the one guessing, but others at the same address may still be.
      if (!failed) for (const key of keys) if (key.kind !== 'network') this.#forget(textOf(key))
      return result
    } finally {
      if (failed) this.#report(keys)
      else for (const takeBack of counted) takeBack()
    }
  }

  /** Clears the failures of an account, from all addresses. */
  clearAccount(account: string): void {
    this.#forget(textOf({ kind: 'account', of: account }))
    const pairs = textOf({ kind: 'pair', of: pairOf(account, '') })
    for (const failures of [this.#paused, this.#unpaused]) {
      for (const key of failures.keys()) if (key.startsWith(pairs)) failures.delete(key)
    }
  }

  #find(key: AttemptKey, now: number): Failures | undefined {
    const text = textOf(key)
    const failures = this.#paused.get(text) ?? this.#unpaused.get(text)
    if (!failures) return undefined
    // If the clock was set back, failures in the future are treated as if they had just happened.
    const ahead = Math.max(0, failures.failedAt - now)
    failures.failedAt -= ahead
    failures.forgivenAt -= ahead
    failures.pausedUntil -= ahead
    if (now - Math.max(failures.failedAt, failures.pausedUntil) >= EPISODE_MS) {
      this.#forget(text)
      return undefined
    }
    const { forgivenMs } = RULES[key.kind]
    const forgiven = Math.max(0, Math.floor((now - failures.forgivenAt) / forgivenMs))
    failures.count = Math.max(0, failures.count - forgiven)
    failures.forgivenAt += forgiven * forgivenMs
    return failures
  }

  /** Returns a function that reverts it. */
  #count(key: AttemptKey): () => void {
    const now = this.clock.now()
    const text = textOf(key)
    const rule = RULES[key.kind]
    const failures = this.#find(key, now) ?? firstFailure(now)
    failures.count += 1
    failures.failedAt = now
    const isPaused = failures.count >= rule.free
    if (isPaused) {
      failures.pausedUntil = now + Math.min(rule.longestPauseMs, rule.firstPauseMs * 2 ** failures.pauses)
      failures.pauses += 1
    }
    this.#forget(text)
    const kept = failures.pauses > 0 ? this.#paused : this.#unpaused
    makeRoom(kept, KEPT_LIMIT)
    kept.set(text, failures)
    return () => {
      failures.count = Math.max(0, failures.count - 1)
      if (!isPaused) return
      failures.pauses -= 1
      failures.pausedUntil = Math.min(failures.pausedUntil, this.clock.now())
    }
  }

  #report(keys: readonly AttemptKey[]): void {
    const account = keys.find(({ kind }) => kind === 'account')
    const failures = keys
      .filter(({ kind }) => kind === 'account' || kind === 'pair')
      .map((key) => this.#paused.get(textOf(key)))
      .filter((each) => each !== undefined)
    const isNew = failures.some(({ isReported }) => !isReported)
    for (const each of failures) each.isReported = true
    if (account && isNew) this.onSlowed(account.of)
  }

  #forget(text: string): void {
    this.#paused.delete(text)
    this.#unpaused.delete(text)
  }
}

function firstFailure(now: number): Failures {
  return { count: 0, forgivenAt: now, failedAt: now, pauses: 0, pausedUntil: now, isReported: false }
}

/** The key of an account tried from one network. */
export function pairOf(account: string, network: string): string {
  return `${account} ${network}`
}
