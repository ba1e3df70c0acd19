import { databaseBusy, overloaded } from '../../errors.ts'

/** The default time after which a waiting call is rejected: its client gives up, and the queue must not only grow. */
const WAIT_LIMIT_MS = 5_000

/** The maximum number of waiting turns: 10,000 are a few seconds of work and a few megabytes. */
const QUEUE_LIMIT = 10_000

/** How long others are held back for an exclusive turn. A long-running body must not stop all the others. */
const ALONE_WAIT_MS = 200

interface Waiting<Lane> {
  alone: boolean
  since: number
  resolve: (lane: Lane) => void
  reject: (reason: unknown) => void
}

/**
 * Hands out a fixed number of lanes, one per writing body. An exclusive turn starts when every lane is free, and no
 * other starts until it is over. A body that lost a race runs again exclusively, and seldom loses a second time.
 */
export class Turns<Lane> {
  readonly #free: Lane[]
  readonly #waiting: Waiting<Lane>[] = []
  #alone = false

  constructor(
    readonly lanes: Lane[],
    readonly waitLimitMs = WAIT_LIMIT_MS,
  ) {
    this.#free = [...lanes]
  }

  /** Rejects with a Problem if too many are waiting, or if the wait takes too long. */
  take(alone: boolean): Promise<Lane> {
    if (this.#waiting.length >= QUEUE_LIMIT) return Promise.reject(overloaded())
    return new Promise((resolve, reject) => {
      const waiting = { alone, since: performance.now(), resolve, reject }
      // A second attempt does not queue again.
      if (alone) this.#waiting.unshift(waiting)
      else this.#waiting.push(waiting)
      this.#next()
      if (alone) setTimeout(() => this.#settleForCompany(waiting), ALONE_WAIT_MS)
    })
  }

  give(lane: Lane): void {
    this.#alone = false
    this.#free.push(lane)
    this.#next()
  }

  #settleForCompany(waiting: Waiting<Lane>): void {
    waiting.alone = false
    this.#next()
  }

  #next(): void {
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      if (performance.now() - first.since > this.waitLimitMs) {
        this.#waiting.shift()
        first.reject(databaseBusy())
        continue
      }
      if (this.#alone || this.#free.length < (first.alone ? this.lanes.length : 1)) return
      this.#waiting.shift()
      this.#alone = first.alone
      // The most recently used lane has an open connection.
      first.resolve(this.#free.pop()!)
    }
  }
}
