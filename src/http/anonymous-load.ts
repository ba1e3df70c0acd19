/**
 * Limits how many requests without a valid credential are processed per second. Excess requests wait for their turn,
 * which costs a timer, instead of taking time from agents that report: two hundred connections that repeat immediately
 * would otherwise leave a reporting one a two-hundredth of the event loop. They wait instead of being refused, because
 * a refused client would also repeat immediately.
 *
 * Requests with a valid token or session are never counted here.
 */
import { Problem } from '../errors.ts'
import { makeRoom } from '../lib/bounded-map.ts'
import { type Clock, monotonicClock } from '../lib/clock.ts'
import { networkOf } from '../lib/network.ts'

/** A limit for requests: so many per second, after an initial burst. */
interface Rate {
  perSecond: number
  /** A page of the web application makes some twenty requests, which must not wait for each other. */
  atOnce: number
}

/**
 * Some 2% of a processor if requests are cheap. Enough for an office behind one address to open twenty pages at once.
 */
const OF_NETWORK: Rate = { perSecond: 100, atOnce: 400 }

/** For requests from many addresses together: some 5% of a processor. */
const OF_ALL: Rate = { perSecond: 250, atOnce: 500 }

/**
 * The share of each network in addition to the rate of all, so that a supervisor's probe does not wait for many other
 * clients. Small, because there may be hundreds of networks.
 */
const SHARE_OF_NETWORK: Rate = { perSecond: 0.5, atOnce: 5 }

/** Browsers and probes wait this long without giving up. */
const LONGEST_WAIT_MS = 2_000

/** Waiting requests each hold a socket and some kilobytes; more are refused immediately. */
const WAITING_LIMIT = 1_000

/** Number of networks that are remembered, some 150 bytes each. Beyond it, the oldest are removed. */
const KEPT_LIMIT = 10_000

/** The time of a rate's next turn if turns were handed out evenly; in the past if some are left. */
type NextTurn = number

/** No request has had a turn yet. */
const NEVER: NextTurn = Number.NEGATIVE_INFINITY

function rateLimited(): Problem {
  return new Problem(
    'rate_limited',
    'Too many requests without a valid credential came from this address or from many at once. Try again in 5 s.',
    { headers: { 'retry-after': '5' } },
  )
}

/** How long a request has to wait for its turn; 0 or less for no wait. */
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
  /** Ordered by the last request, most recent last. */
  readonly #networks = new Map<string, Network>()
  #ofAll: NextTurn = NEVER
  #waiting = 0

  constructor(readonly clock: Clock = monotonicClock) {}

  /** Number of remembered networks. */
  get networks(): number {
    return this.#networks.size
  }

  /** Whether a request from this address would have to wait. */
  isPressed(address: string): boolean {
    return this.#waitMs(this.#networks.get(networkOf(address)), this.clock.now()) > 0
  }

  /**
   * Counts a request, and resolves when it is its turn; returns no promise if that is immediately. Throws
   * `rate_limited` if too many are waiting, after a delay, so that repeating has no advantage.
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
