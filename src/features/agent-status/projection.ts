/** Whether a limit will be reached before its window ends, if use goes on as it has in the window. Pure. */

export interface Reading {
  /** Hundredths of a percent. */
  used: number
  readAt: number
  resetsAt: number | null
  windowMinutes: number
}

export interface Projection {
  /** Hundredths of a percent at the end of the window. */
  used: number
  reachesLimit: boolean
  /** Null if the limit is not reached, or has been. */
  reachesAt: number | null
}

/** Hundredths of a percent. */
const ALL = 10_000

/** Earlier in a window, one long answer would be a trend. */
const LEAST_ELAPSED = 0.05

const MINUTE_MS = 60_000

/** Null if it is not known when the window ends, if it has ended, or if it is too early to say. */
export function projectionOf({ used, readAt, resetsAt, windowMinutes }: Reading, now: number): Projection | null {
  if (resetsAt === null || resetsAt <= now) return null
  const windowMs = windowMinutes * MINUTE_MS
  const elapsedMs = windowMs - (resetsAt - readAt)
  if (used >= ALL) return { used, reachesLimit: true, reachesAt: null }
  if (elapsedMs < windowMs * LEAST_ELAPSED) return null
  const atEnd = Math.max(used, Math.round((used * windowMs) / elapsedMs))
  const reachesLimit = atEnd >= ALL
  const reachesAt = reachesLimit ? Math.round(readAt + ((ALL - used) * elapsedMs) / used) : null
  return { used: atEnd, reachesLimit, reachesAt }
}

/** Sorts what needs attention first: what reaches its limit, the soonest first, then what is used most. */
export function byUrgency(
  one: { projection: Projection | null; reading: Reading },
  other: { projection: Projection | null; reading: Reading },
): number {
  const [rankOne, rankOther] = [one, other].map(({ projection, reading }) => {
    if (projection?.reachesLimit) return [0, projection.reachesAt ?? reading.readAt]
    return projection ? [1, -projection.used] : [2, -reading.readAt]
  }) as [[number, number], [number, number]]
  return rankOne[0] - rankOther[0] || rankOne[1] - rankOther[1]
}
