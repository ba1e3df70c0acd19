/** When an e-mail that a mail server did not accept is sent again. Pure. */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/**
 * Pause after each failed attempt. A restarted mail server is back within minutes, a broken one within a working day;
 * after a day and a half, no one should rely on it.
 */
const PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, 12 * HOUR_MS]

/** The pause in milliseconds after so many attempts; undefined after the last one. */
export function pauseAfter(attempts: number): number | undefined {
  return PAUSES_MS[attempts - 1]
}

/** No attempt is planned further ahead: one that is was planned while a clock was ahead, and must not wait for that time. */
export const FARTHEST_MS = 13 * HOUR_MS
