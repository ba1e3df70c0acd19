/** Hashes and verifies passwords: one at a time, in a bounded queue that no single caller can fill. */
import { Problem } from '../../../errors.ts'
import { HASHING_COST } from './hashing-cost.ts'
import { HashingThread, type PasswordHasher } from './hashing-thread.ts'

/** About three seconds of work. Callers who wait longer give up, and the queue must stay bounded. */
const WAITING_LIMIT = 16

/** The share of one network: enough for an office in the morning, but not the whole queue. */
const OF_NETWORK_LIMIT = 10

/** The origin of a password. */
export interface Whose {
  /** The network of the call; undefined on the command line. */
  network?: string | undefined
  /**
   * From a browser that signed in before, or with a valid link: these have a queue of their own, which strangers cannot
   * fill.
   */
  isKnown?: boolean | undefined
}

interface Checked extends Whose {
  /** Called when it is the password's turn. If it throws, nothing is hashed. */
  onTurn?: () => Promise<void>
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

/** A hash that matches no password, and takes as long to verify as any other. */
function hashOfNothing(): string {
  const [salt, digest] = [base64(32), base64(32)].map((text) => text.replaceAll('=', ''))
  const { memoryCost, timeCost } = HASHING_COST
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$${salt}$${digest}`
}

export class Hashing {
  #isRunning = false
  /** Known callers first, each queue in its order. */
  readonly #queues: { known: Waiting[]; unknown: Waiting[] } = { known: [], unknown: [] }
  readonly #hashOfNothing = hashOfNothing()

  constructor(readonly hasher: PasswordHasher = new HashingThread()) {}

  /** Hashes with argon2id. Throws `too_many_attempts`, without hashing, if too many are waiting. */
  hash(password: string, whose: Whose = { isKnown: true }): Promise<string> {
    return this.#turn(whose, () => this.hasher.hash(folded(password)))
  }

  /**
   * Whether the password matches the hash. Takes as long if `hash` is null, by verifying a hash that matches no
   * password, so that the time does not reveal who exists. Throws as {@link hash}.
   */
  verify(password: string, hash: string | null, { onTurn, ...whose }: Checked = {}): Promise<boolean> {
    return this.#turn(whose, async () => {
      await onTurn?.()
      return this.hasher.verify(folded(password), hash ?? this.#hashOfNothing)
    })
  }

  async #turn<Result>(whose: Whose, work: () => Promise<Result>): Promise<Result> {
    if (this.#isRunning) await this.#wait(whose)
    this.#isRunning = true
    try {
      return await work()
    } finally {
      this.#isRunning = false
      // Handed on at once, so that later callers can't overtake.
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

/** The same keys result in different code points on different systems (NIST SP 800-63B, 3.1.1.2). */
function folded(password: string): string {
  return password.normalize('NFKC')
}
