/**
 * How many requests without a valid credential are answered in a second. Those beyond wait for their turn, which costs
 * a timer, instead of taking the event loop from agents that report: two hundred connections that repeat as soon as
 * they are answered would otherwise leave a reporting one a two-hundredth of it. Waiting rather than refusing, because
 * whoever is refused at once also repeats at once.
 *
 * Callers with a valid token or session are never counted here.
 */
import { Problem } from '../errors.ts'
import { makeRoom } from '../lib/bounded.ts'
import { type Clock, monotonicClock } from '../lib/clock.ts'
import { networkOf } from '../lib/network.ts'

/** A request that may be answered again and again: so many a second, after so many at once. */
interface Rate {
  perSecond: number
  /** A page of the web application is some twenty requests, which must not wait for each other. */
  atOnce: number
}

/** Some 2% of a processor where requests are cheap. An office behind one address opens twenty pages at once with it. */
const OF_NETWORK: Rate = { perSecond: 100, atOnce: 400 }

/** Where they come from many addresses: some 5% of a processor. */
const OF_ALL: Rate = { perSecond: 250, atOnce: 500 }

/**
 * What a network has beside the rate of all: a probe of a supervisor does not wait for the many who want more. Seldom, as
 * there may be hundreds of networks.
 */
const SHARE_OF_NETWORK: Rate = { perSecond: 0.5, atOnce: 5 }

/** Browsers and probes wait this long without giving up. */
const LONGEST_WAIT_MS = 2_000

/** Requests that wait hold a socket and some kilobytes each; more are refused at once. */
const WAITING_LIMIT = 1_000

/** Networks whose last requests are remembered, some 150 bytes each. Beyond it the oldest are forgotten. */
const KEPT_LIMIT = 10_000

/** When the next turn of a rate is, if turns are handed out evenly; in the past where some are left. */
type NextTurn = number

/** Where nobody had a turn yet. */
const NEVER: NextTurn = Number.NEGATIVE_INFINITY

function rateLimited(): Problem {
  return new Problem(
    'rate_limited',
    'Too many requests without a valid credential came from this address or from many at once. Try again in 5 s.',
    { headers: { 'retry-after': '5' } },
  )
}

/** How long a request has to wait for its turn; 0 or less for not at all. */
function waitMs(next: NextTurn, now: number, { perSecond, atOnce }: Rate): number {
  return Math.max(next, now - ((atOnce - 1) / perSecond) * 1_000) - now
}

function taken(next: NextTurn, now: number, { perSecond, atOnce }: Rate): NextTurn {
  return Math.max(next, now - ((atOnce - 1) / perSecond) * 1_000) + 1_000 / perSecond
}

interface Network {
  next: NextTurn
  nextOfShare: NextTurn
}

export class AnonymousLoad {
  /** The one that was counted last comes last. */
  readonly #networks = new Map<string, Network>()
  #ofAll: NextTurn = NEVER
  #waiting = 0

  constructor(readonly clock: Clock = monotonicClock) {}

  /** Networks that are remembered. */
  get networks(): number {
    return this.#networks.size
  }

  /** Whether a request from there would have to wait. */
  isPressed(address: string): boolean {
    return this.#waitMs(this.#networks.get(networkOf(address)), this.clock.now()) > 0
  }

  /**
   * Counts a request, and resolves when it is its turn to be answered: nothing, not even a promise, where that is now.
   * Throws `rate_limited` where too many wait, after a while, so that repeating gains nothing.
   */
  turn(address: string): void | Promise<void> {
    const network = networkOf(address)
    const now = this.clock.now()
    const wait = this.#waitMs(this.#networks.get(network), now)
    if (wait > LONGEST_WAIT_MS) return this.#refuseLater()
    if (wait > 0 && this.#waiting >= WAITING_LIMIT) throw rateLimited()
    this.#count(network, now)
    if (wait > 0) return this.#wait(wait)
  }

  #waitMs(known: Network | undefined, now: number): number {
    if (!known) return 0
    const ofNetwork = waitMs(known.next, now, OF_NETWORK)
    if (waitMs(known.nextOfShare, now, SHARE_OF_NETWORK) <= 0) return ofNetwork
    return Math.max(ofNetwork, waitMs(this.#ofAll, now, OF_ALL))
  }

  #count(name: string, now: number): void {
    const network = this.#networks.get(name) ?? { next: NEVER, nextOfShare: NEVER }
    network.next = taken(network.next, now, OF_NETWORK)
    if (waitMs(network.nextOfShare, now, SHARE_OF_NETWORK) <= 0) {
      network.nextOfShare = taken(network.nextOfShare, now, SHARE_OF_NETWORK)
    } else {
      this.#ofAll = taken(this.#ofAll, now, OF_ALL)
    }
    this.#networks.delete(name)
    makeRoom(this.#networks, KEPT_LIMIT)
    this.#networks.set(name, network)
  }

  async #refuseLater(): Promise<void> {
    if (this.#waiting < WAITING_LIMIT) await this.#wait(LONGEST_WAIT_MS)
    throw rateLimited()
  }

  async #wait(ms: number): Promise<void> {
    this.#waiting += 1
    try {
      await Bun.sleep(ms)
    } finally {
      this.#waiting -= 1
    }
  }
}
