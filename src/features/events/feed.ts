/** Wakes those who wait for events: one query per server and half a second, however many they are. */

/** Less than a second after an event, of this process or another one, whoever waits for it has read it. */
const LOOK_EVERY_MS = 500

interface Waiter {
  after: number
  wake(): void
}

export class EventFeed {
  readonly #settled: () => Promise<number>
  readonly #waiters = new Set<Waiter>()
  #timer: Timer | undefined
  #isLooking = false

  constructor(settled: () => Promise<number>) {
    this.#settled = settled
  }

  /** Resolves when there may be events after a position, at the latest after the time, and when the signal is aborted. */
  async wait(after: number, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<void> {
    if (timeoutMs <= 0 || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { after, wake: () => resolve() }
    const timer = setTimeout(resolve, timeoutMs)
    signal.addEventListener('abort', waiter.wake, { once: true })
    this.#waiters.add(waiter)
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS)
    await promise
    clearTimeout(timer)
    signal.removeEventListener('abort', waiter.wake)
    this.#waiters.delete(waiter)
    if (this.#waiters.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Whoever waits is woken by an error, too: their own query reports it. */
  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    const settled = await this.#settled().catch(() => Number.POSITIVE_INFINITY)
    this.#isLooking = false
    for (const waiter of this.#waiters) if (waiter.after < settled) waiter.wake()
  }
}
