/**
 * Limits how long the server computes for each person, so that nobody can keep it busy with expressions that are slow to
 * compile or to match. In memory: after a restart everyone has their full share again.
 */
import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'

const MINUTE_MS = 60_000

/** Hundreds of ordinary proposals; two percent of a processor. */
const PER_MINUTE_MS = 1_000

interface Spent {
  ms: number
  at: number
}

export class TimeBudget {
  /** By key of a person: no more than there are people. */
  readonly #spent = new Map<number, Spent>()

  constructor(readonly clock: Clock) {}

  /** What the person has spent and not yet earned back. If the clock was set back, nothing was earned. */
  #owed(personId: number): number {
    const spent = this.#spent.get(personId)
    if (!spent) return 0
    const earned = (Math.max(0, this.clock.now() - spent.at) / MINUTE_MS) * PER_MINUTE_MS
    return Math.max(0, spent.ms - earned)
  }

  /** Throws `rate_limited` (429), with `Retry-After`, if the person has used up their share. */
  require(personId: number): void {
    const owed = this.#owed(personId)
    if (owed < PER_MINUTE_MS) return
    const seconds = Math.ceil(((owed - PER_MINUTE_MS) / PER_MINUTE_MS) * (MINUTE_MS / 1_000)) + 1
    const detail = `The expressions of your proposed rules take long to check, and you have used up your share. Try again in ${seconds} s, with simpler expressions.`
    throw new Problem('rate_limited', detail, { headers: { 'retry-after': String(seconds) } })
  }

  /** Counts time for which the server computed. */
  charge(personId: number, ms: number): void {
    this.#spent.set(personId, { ms: this.#owed(personId) + ms, at: this.clock.now() })
  }
}
