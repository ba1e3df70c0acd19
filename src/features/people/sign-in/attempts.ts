/**
 * Counts recent failed attempts, and how long callers have to wait for the next one: the more failures, the longer.
 * Counted in the database, by all of its servers together, and only when a password is about to be checked, one at a
 * time in each server: so that callers cannot write faster than Tally can hash.
 */
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { Problem } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import {
  deleteEndedFailures,
  deleteFailuresOf,
  type Failures,
  findFailures,
  markReported,
  saveFailures,
} from '../store/failed-attempts.ts'

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
  /** The e-mail address of the account with which failures are cleared; undefined for a network. */
  account?: string
}

/** After this time without a failure, pauses start short again. */
const EPISODE_MS = 60 * MINUTE_MS

/** The clocks of servers differ by less: one that is further behind was set back. */
const SKEW_MS = MINUTE_MS

/** The keys for failures in a browser in which the person never signed in. */
export function keysOfStranger(account: string, network: string): AttemptKey[] {
  return [
    { kind: 'pair', of: `${account} ${network}`, account },
    { kind: 'network', of: network },
    { kind: 'account', of: account, account },
  ]
}

/** Clears the failures of an account, from all addresses and in all browsers. */
export const clearAttempts = (tx: Tx, account: string): Promise<void> =>
  deleteFailuresOf(tx, digestOf({ kind: 'account', of: account }))

function tooManyAttempts(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / SECOND_MS)
  return new Problem('too_many_attempts', `Too many failed attempts. Try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

const textOf = ({ kind, of }: AttemptKey) => `${kind} ${of}`

const digestOf = (key: AttemptKey) => Bun.SHA256.hash(textOf(key)) as Uint8Array

function noFailures({ kind, of, account }: AttemptKey, now: number): Failures {
  return {
    key: digestOf({ kind, of }),
    account: account === undefined ? null : digestOf({ kind: 'account', of: account }),
    count: 0,
    forgivenAt: now,
    failedAt: now,
    pauses: 0,
    pausedUntil: now,
    reported: false,
    endsAt: now,
  }
}

/** As they count now: if the clock was set back, failures in the future have just happened. */
function current(failures: Failures, { forgivenMs }: Rule, now: number): Failures {
  const aheadMs = Math.max(0, failures.failedAt - now)
  const forgivenAt = failures.forgivenAt - aheadMs
  const forgiven = Math.max(0, Math.floor((now - forgivenAt) / forgivenMs))
  return {
    ...failures,
    count: Math.max(0, failures.count - forgiven),
    forgivenAt: forgivenAt + forgiven * forgivenMs,
    failedAt: failures.failedAt - aheadMs,
    pausedUntil: failures.pausedUntil - aheadMs,
  }
}

/** With one failure more. */
function failed(failures: Failures, { free, firstPauseMs, longestPauseMs }: Rule, now: number): Failures {
  const count = failures.count + 1
  if (count < free) return { ...failures, count, failedAt: now }
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failures.pauses)
  return { ...failures, count, failedAt: now, pauses: failures.pauses + 1, pausedUntil: now + pauseMs }
}

/** Without the failure that had been counted. */
function takenBack(failures: Failures, { hasPaused }: Counted, now: number): Failures {
  const count = Math.max(0, failures.count - 1)
  if (!hasPaused) return { ...failures, count }
  const pauses = Math.max(0, failures.pauses - 1)
  return { ...failures, count, pauses, pausedUntil: Math.min(failures.pausedUntil, now) }
}

/** When they say nothing any more: all are forgiven, or pauses would start short again. */
function endOf({ count, forgivenAt, failedAt, pauses, pausedUntil }: Failures, { forgivenMs }: Rule): number {
  const episode = Math.max(failedAt, pausedUntil) + EPISODE_MS
  return pauses > 0 ? episode : Math.min(episode, forgivenAt + count * forgivenMs)
}

/** A key under which a failure is counted while the attempt runs. */
interface Counted {
  key: AttemptKey
  hasPaused: boolean
}

export class Attempts {
  constructor(
    readonly db: Database,
    readonly clock: Clock,
    /**
     * Called with an account that strangers have to pause for: once per episode and address, and once for all
     * addresses.
     */
    readonly onSlowed: (account: string) => void = () => undefined,
  ) {}

  /** The time until an attempt under these keys is allowed; 0 if it is allowed now. */
  async waitMs(keys: readonly AttemptKey[]): Promise<number> {
    const now = this.clock.now()
    const found = await this.#find(this.db.read, keys, now)
    // A pause that has just begun must not begin anew with every look at it.
    if (found.some(({ failedAt }) => failedAt > now + SKEW_MS)) await this.#change(keys, (_key, failures) => failures)
    return Math.max(0, ...found.map((failures, at) => current(failures, RULES[keys[at]!.kind], now).pausedUntil - now))
  }

  /**
   * Runs `attempt`, which returns undefined if it failed and calls `count` immediately before it checks a password. That
   * counts a failure under every key, which is taken back if the attempt succeeds or breaks: otherwise a thousand
   * concurrent attempts would all be allowed. Throws `too_many_attempts`, with `Retry-After`, without running it if a
   * key has to wait; so does `count`.
   */
  async try<Result>(
    keys: readonly AttemptKey[],
    attempt: (count: () => Promise<void>) => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const waitMs = await this.waitMs(keys)
    if (waitMs > 0) throw tooManyAttempts(waitMs)
    let counted: Counted[] = []
    let result: Result | undefined
    try {
      result = await attempt(async () => {
        counted = await this.#count(keys)
      })
    } catch (error) {
      // If it stays counted, the first error is still the one to report.
      await this.#takeBack(counted, { isRight: false }).catch(() => undefined)
      throw error
    }
    if (result === undefined) await this.#report(counted)
    else await this.#takeBack(counted, { isRight: true })
    return result
  }

  async #count(keys: readonly AttemptKey[]): Promise<Counted[]> {
    const changes = await this.#change(keys, (key, failures, now) => {
      const waitMs = failures.pausedUntil - now
      if (waitMs > 0) throw tooManyAttempts(waitMs)
      return failed(failures, RULES[key.kind], now)
    })
    return changes.map(({ key, before, after }) => ({ key, hasPaused: after.pauses > before.pauses }))
  }

  async #takeBack(counted: readonly Counted[], { isRight }: { isRight: boolean }): Promise<void> {
    const of = new Map(counted.map((each) => [each.key, each]))
    await this.#change([...of.keys()], (key, failures, now) => {
      // A caller with the right password was not the one guessing, but others at the same address may still be.
      if (isRight && key.kind !== 'network') return noFailures(key, now)
      return takenBack(failures, of.get(key)!, now)
    })
  }

  async #report(counted: readonly Counted[]): Promise<void> {
    const account = counted.find(({ key }) => key.kind === 'account')?.key.of
    if (account === undefined || !counted.some(({ hasPaused }) => hasPaused)) return
    const keys = counted.map(({ key }) => key).filter(({ kind }) => kind !== 'network')
    const isNew = await this.db.write((tx) => markReported(tx, keys.map(digestOf)))
    if (isNew) this.onSlowed(account)
  }

  /** What is known of each key, as it was saved. */
  async #find(reader: Reader, keys: readonly AttemptKey[], now: number): Promise<Failures[]> {
    const digests = keys.map(digestOf)
    const found = (await findFailures(reader, digests)).filter(({ endsAt }) => endsAt > now)
    return keys.map((key, at) => {
      const digest = Buffer.from(digests[at]!)
      return found.find((failures) => digest.equals(failures.key)) ?? noFailures(key, now)
    })
  }

  /** Changes the failures of all keys at once, while no other server does. */
  async #change(
    keys: readonly AttemptKey[],
    changed: (key: AttemptKey, failures: Failures, now: number) => Failures,
  ): Promise<{ key: AttemptKey; before: Failures; after: Failures }[]> {
    if (keys.length === 0) return []
    const change = async (tx: Tx) => {
      await tx.lockAll(() => keys.map((key) => `failed attempts ${digestOf(key).toHex()}`))
      const now = this.clock.now()
      const found = await this.#find(tx, keys, now)
      const changes = keys.map((key, at) => {
        const before = current(found[at]!, RULES[key.kind], now)
        return { key, before, after: changed(key, before, now) }
      })
      const rows = changes.map(({ key, after }) => ({ ...after, endsAt: endOf(after, RULES[key.kind]) }))
      await saveFailures(tx, rows)
      await deleteEndedFailures(tx, now)
      return changes
    }
    return this.db.write(change, { isolation: 'read committed' })
  }
}
