/** Hashing and checking passwords: one at a time, in a queue that is bounded and that nobody can fill for the others. */
import { Problem } from '../../../errors.ts'
import { HASHING_COST } from './hashing-cost.ts'
import { HashingThread, type PasswordHasher } from './hashing-thread.ts'

/** Some three seconds of work. Who waits longer gives up, and the queue must not only grow. */
const WAITING_LIMIT = 16

/** Of those, what one network may have: enough for an office in the morning, and not the whole queue. */
const OF_NETWORK_LIMIT = 10

/** Whose password it is. */
export interface Whose {
  /** Where the call comes from; undefined on the command line. */
  network?: string | undefined
  /** A browser that signed in before, or a valid link: they have a queue of their own, which strangers cannot fill. */
  isKnown?: boolean | undefined
}

interface Waiting extends Whose {
  start(): void
}

function tooMany(): Problem {
  return new Problem('too_many_attempts', 'Too many passwords are being checked at once. Try again in 3 s.', {
    headers: { 'retry-after': '3' },
  })
}

const base64 = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('base64')

/** A hash that no password has, as dear to check as any. */
function hashOfNothing(): string {
  const [salt, digest] = [base64(32), base64(32)].map((text) => text.replaceAll('=', ''))
  const { memoryCost, timeCost } = HASHING_COST
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$${salt}$${digest}`
}

export class Hashing {
  #isRunning = false
  /** Those that are known first, each queue in its order. */
  readonly #queues: { known: Waiting[]; unknown: Waiting[] } = { known: [], unknown: [] }
  readonly #hashOfNothing = hashOfNothing()

  constructor(readonly hasher: PasswordHasher = new HashingThread()) {}

  /** argon2id. Throws `too_many_attempts`, without hashing, where too many wait. */
  hash(password: string, whose: Whose = { isKnown: true }): Promise<string> {
    return this.#turn(whose, () => this.hasher.hash(folded(password)))
  }

  /**
   * Whether it is the password of the hash. Takes as long where there is none, by checking one that no password has,
   * so that time does not tell who exists. Throws as {@link hash}.
   */
  verify(password: string, hash: string | null, whose: Whose = {}): Promise<boolean> {
    return this.#turn(whose, () => this.hasher.verify(folded(password), hash ?? this.#hashOfNothing))
  }

  async #turn<Result>(whose: Whose, work: () => Promise<Result>): Promise<Result> {
    if (this.#isRunning) await this.#wait(whose)
    this.#isRunning = true
    try {
      return await work()
    } finally {
      this.#isRunning = false
      // Handed on at once, so that nobody who comes meanwhile gets ahead.
      const next = this.#queues.known.shift() ?? this.#queues.unknown.shift()
      if (next) {
        this.#isRunning = true
        next.start()
      }
    }
  }

  #wait(whose: Whose): Promise<void> {
    const queue = whose.isKnown ? this.#queues.known : this.#queues.unknown
    const ofNetwork = whose.isKnown ? [] : queue.filter(({ network }) => network === whose.network)
    if (queue.length >= WAITING_LIMIT || ofNetwork.length >= OF_NETWORK_LIMIT) throw tooMany()
    return new Promise((start) => queue.push({ ...whose, start }))
  }
}

/** The same keys give different code points on different systems (NIST SP 800-63B, 3.1.1.2). */
function folded(password: string): string {
  return password.normalize('NFKC')
}
