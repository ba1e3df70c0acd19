/** Requests that all endpoints together begin per second: about a quarter of a processor. */
const PER_SECOND = 200

/** While reports wait for their commit: some three percent of a processor, which their response times don't show. */
const BUSY_PER_SECOND = 20

/**
 * Returns a function that resolves when its caller may begin a request; callers take turns.
 *
 * @param isBusy whether other work waits, so that requests are made at a slower pace
 */
export function createPace(isBusy: () => boolean): () => Promise<void> {
  let nextAt = 0
  return async () => {
    const now = performance.now()
    const at = Math.max(now, nextAt)
    nextAt = at + 1_000 / (isBusy() ? BUSY_PER_SECOND : PER_SECOND)
    // Timers are exact to a millisecond.
    if (at - now >= 1) await Bun.sleep(at - now)
  }
}
