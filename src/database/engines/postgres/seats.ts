/** Seats for slow reads. As on SQLite, the many queries of one caller do not delay those of others. */
import { currentCaller, type DatabaseCaller } from '../../caller.ts'
import { abandoned, overloaded } from '../../errors.ts'
import { CallerQueue } from '../caller-queue.ts'

/** One seat more than a caller may have at a time. */
export const SEATS = 3
const CALLER_LIMIT = SEATS - 1

/** Maximum number of waiting queries. */
const QUEUE_LIMIT = 200

interface Waiting {
  caller: DatabaseCaller | undefined
  resolve: (seat: number) => void
  reject: (error: unknown) => void
}

export class Seats {
  readonly #queue = new CallerQueue<Waiting>()
  readonly #free = Array.from({ length: SEATS }, (_, seat) => seat)
  readonly #taken = new Map<number, Waiting>()

  /** @param waitLimitMs how long a query may wait for its turn */
  constructor(readonly waitLimitMs: number) {}

  /** Rejects with a Problem if the wait takes too long, if too many wait, or if the caller is gone. */
  async take(): Promise<number> {
    const caller = currentCaller()
    if (caller?.signal.aborted) throw abandoned()
    if (this.#queue.length >= QUEUE_LIMIT) {
      const displaced = this.#queue.displaceFor(caller)
      if (!displaced) throw overloaded()
      displaced.reject(overloaded())
    }
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const waiting: Waiting = { caller, resolve, reject }
    const leave = (reason: unknown) => {
      if (this.#queue.remove(waiting)) reject(reason)
    }
    const abandon = () => leave(abandoned())
    const timer = setTimeout(() => leave(overloaded()), this.waitLimitMs)
    caller?.signal.addEventListener('abort', abandon)
    this.#queue.add(waiting)
    this.#next()
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      caller?.signal.removeEventListener('abort', abandon)
    }
  }

  give(seat: number): void {
    this.#taken.delete(seat)
    this.#free.push(seat)
    this.#next()
  }

  #next(): void {
    while (this.#free.length > 0) {
      const next = this.#queue.take([...this.#taken.values()], CALLER_LIMIT - 1)
      if (!next) return
      // The most recently used seat has an open connection.
      const seat = this.#free.pop()!
      this.#taken.set(seat, next)
      next.resolve(seat)
    }
  }
}
