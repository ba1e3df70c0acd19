/** The current time, injected so that tests can control it. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Milliseconds since the process started. Never adjusted, so it is right for measuring durations. */
export const monotonicClock: Clock = { now: () => performance.now() }
