/**
 * Gives memory back once the server is idle. The collector by itself waits for the heap to double, which on an idle server
 * never happens: what a busy hour, or the start, left behind would stay for days.
 */

/** How often one looks. A collection takes some 20 ms, which nobody waits for then. */
const LOOK_MS = 10_000

/** Less processor time than this between two looks is idle: the regular jobs take a tenth of it. */
const IDLE_SHARE = 0.02

/** Collects once each time that the process becomes idle. Answers what ends it. */
export function collectWhenIdle(): () => void {
  let isCollected = false
  let last = process.cpuUsage()
  const timer = setInterval(() => {
    const now = process.cpuUsage()
    const usedMs = (now.user + now.system - last.user - last.system) / 1_000
    last = now
    const isIdle = usedMs < LOOK_MS * IDLE_SHARE
    if (isIdle && !isCollected) Bun.gc(true)
    isCollected = isIdle
  }, LOOK_MS)
  return () => clearInterval(timer)
}
