/** When a failed attempt is repeated: the schedule of Standard Webhooks. Pure. */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Pause after each failed attempt in a row; after the last of them, that one is repeated. */
const PAUSES_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

/** A receiver that fails over a long weekend still gets everything; after that, nobody is repairing it. */
export const GIVE_UP_MS = 72 * HOUR_MS

/** A lease lasts a minute. One that ends later is of a clock that was ahead: those of several servers may differ, but not so far. */
export const FARTHEST_LEASE_MS = HOUR_MS

/** Up to this share longer, so that the receivers of an outage are not called all at once. */
const JITTER = 0.2

/**
 * When the next attempt is due after the given number of failed ones; undefined if the endpoint has been failing for too
 * long. The last attempt is at the end of the three days.
 *
 * @param random from 0 to below 1
 */
export function nextAttemptAt(
  { attempts, failingSince, now }: { attempts: number; failingSince: number; now: number },
  random = Math.random(),
): number | undefined {
  const givesUpAt = failingSince + GIVE_UP_MS
  if (now >= givesUpAt) return undefined
  const pauseMs = PAUSES_MS[Math.min(attempts, PAUSES_MS.length) - 1]!
  return Math.min(now + Math.round(pauseMs * (1 + JITTER * random)), givesUpAt)
}

/**
 * Whether an attempt that was planned, or null for none, may be made. None is planned further ahead than three days: one that is
 * was planned while a clock was ahead, and nothing would be delivered until that time.
 */
export function isDue(plannedAt: number | null, now: number): boolean {
  return plannedAt === null || plannedAt <= now || plannedAt > now + GIVE_UP_MS
}
