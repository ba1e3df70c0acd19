/**
 * How often somebody tried a wrong password of late, and how long they have to wait for the next attempt: the more
 * failures, the longer. In memory, of this process: a restart forgives, and one cannot be had from outside.
 */
import { Problem } from '../../../errors.ts'
import { makeRoom } from '../../../lib/bounded.ts'
import type { Clock } from '../../../lib/clock.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000

/** Whose failures are counted together. */
interface Rule {
  /** Failures without a pause. */
  free: number
  /** The pause after them, which each further failure doubles. */
  firstPauseMs: number
  longestPauseMs: number
  /** In which one failure is forgiven. */
  forgivenMs: number
}

const RULES = {
  /**
   * An address that tries one account (the e-mail address and the network), an address that tries many, and a browser
   * that signed in before, which may be stolen: ten failures, then a minute, and then some four attempts each quarter
   * of an hour.
   */
  pair: { free: 10, firstPauseMs: MINUTE_MS, longestPauseMs: 15 * MINUTE_MS, forgivenMs: 5 * MINUTE_MS },
  network: { free: 10, firstPauseMs: MINUTE_MS, longestPauseMs: 15 * MINUTE_MS, forgivenMs: MINUTE_MS },
  device: { free: 10, firstPauseMs: MINUTE_MS, longestPauseMs: 15 * MINUTE_MS, forgivenMs: 5 * MINUTE_MS },
  /**
   * An account that is tried from several addresses; one alone is stopped before. The pauses begin short, because its owner has them too where they
   * sign in from a browser that never did before: guessers are left some 600 attempts a day, of 2^40 or more.
   */
  account: { free: 20, firstPauseMs: SECOND_MS, longestPauseMs: 5 * MINUTE_MS, forgivenMs: 5 * MINUTE_MS },
} as const satisfies Record<string, Rule>

export interface AttemptKey {
  kind: keyof typeof RULES
  of: string
}

/** After such a time without a failure, the next one begins with short pauses again. */
const EPISODE_MS = 60 * MINUTE_MS

/** Some 3 MB each, of those that had no pause yet and of those that had. Beyond it the oldest are forgotten. */
const KEPT_LIMIT = 10_000

interface Failures {
  /** As many as are not forgiven yet. */
  count: number
  /** Until when some were forgiven. */
  forgivenAt: number
  failedAt: number
  /** Pauses so far, each twice as long as the one before. */
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
  /** The key that failed last comes last. Apart, so that many single failures cannot push out those that count. */
  readonly #unpaused = new Map<string, Failures>()
  readonly #paused = new Map<string, Failures>()

  constructor(
    readonly clock: Clock,
    /** Called with an account that strangers have to pause for: once an episode and address, and once for all of them. */
    readonly onSlowed: (account: string) => void = () => undefined,
  ) {}

  /** Keys that are kept. */
  get size(): number {
    return this.#paused.size + this.#unpaused.size
  }

  /** How long until an attempt under these keys is allowed; 0 for now. */
  waitMs(keys: readonly AttemptKey[]): number {
    const now = this.clock.now()
    return Math.max(0, ...keys.map((key) => (this.#find(key, now)?.pausedUntil ?? now) - now))
  }

  /**
   * Runs `attempt`, which answers undefined where it failed, and counts it under every key. It counts while it runs:
   * else a thousand tried at once would all be let through. Throws `too_many_attempts`, with `Retry-After`, without
   * running it where a key has to wait.
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
      // Whoever knows the password is not who guessed before; from that address others may still be.
      if (!failed) for (const key of keys) if (key.kind !== 'network') this.#forget(textOf(key))
      return result
    } finally {
      if (failed) this.#report(keys)
      else for (const takeBack of counted) takeBack()
    }
  }

  /** Forgets what was counted against an account, from wherever. */
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
    // After a clock was set back, what is in the future happened just now.
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

  /** Answers what takes it back. */
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

/** The name of an account as one network tries it. */
export function pairOf(account: string, network: string): string {
  return `${account} ${network}`
}
