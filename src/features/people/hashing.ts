/** Hashing and checking passwords, never more of it at once than the machine can bear. */
import { Problem } from '../../errors.ts'
import { randomBase62 } from '../../lib/base62.ts'

/** A hash takes 64 MiB and a processor for some 200 ms: two at once leave a small machine enough to take reports. */
const AT_ONCE = 2

/** What waits longer than this queue, some 3 s, is refused: its caller would give up, and the queue must not only grow. */
const WAITING_LIMIT = 30

function tooMany(): Problem {
  return new Problem('overloaded', 'Too many passwords are being checked at once. Try again in a moment.', {
    headers: { 'retry-after': '2' },
  })
}

export class Hashing {
  #running = 0
  readonly #waiting: (() => void)[] = []
  #dummy: Promise<string> | undefined

  /** argon2id. Throws `overloaded` where too many wait, as the others do. */
  hash(password: string): Promise<string> {
    return this.#turn(() => Bun.password.hash(folded(password)))
  }

  /**
   * Whether it is the password of the hash. Takes as long where there is none, by checking a hash that nobody knows the
   * password of, so that time does not tell who exists. Throws as {@link hash}.
   */
  async verify(password: string, hash: string | null): Promise<boolean> {
    // Awaited in both cases: the first to sign in waits for it, whoever that is.
    const dummy = await this.#hashOfNothing()
    return this.#turn(() => Bun.password.verify(folded(password), hash ?? dummy))
  }

  #hashOfNothing(): Promise<string> {
    this.#dummy ??= this.hash(randomBase62(32)).catch((error) => {
      this.#dummy = undefined
      throw error
    })
    return this.#dummy
  }

  async #turn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= AT_ONCE) {
      if (this.#waiting.length >= WAITING_LIMIT) throw tooMany()
      // The turn is handed on by who had it, so that nobody who comes meanwhile gets ahead.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#running += 1
    }
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }
}

/** The same keys give different code points on different systems (NIST SP 800-63B, 3.1.1.2). */
function folded(password: string): string {
  return password.normalize('NFKC')
}
