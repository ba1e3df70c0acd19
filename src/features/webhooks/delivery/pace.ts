/** Requests that all endpoints together begin per second: a tenth of a processor, which leaves the rest to reports. */
const PER_SECOND = 200

/** Returns a function that resolves when its caller may begin a request; callers take turns. */
export function createPace(perSecond = PER_SECOND): () => Promise<void> {
  const spacingMs = 1_000 / perSecond
  let nextAt = 0
  return async () => {
    const now = performance.now()
    const at = Math.max(now, nextAt)
    nextAt = at + spacingMs
    // Timers are exact to a millisecond.
    if (at - now >= 1) await Bun.sleep(at - now)
  }
}
