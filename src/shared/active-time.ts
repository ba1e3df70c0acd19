/** The active time of a bill's line as text: the same in its documents and on its page. */

const HOUR_S = 3_600

/** `6.4 h`, and of how many entries that is if it is not known of all; `unknown` if it is of none. */
export function activeTimeText(
  activeSeconds: number | null,
  { entries, untimed }: { entries: number; untimed: number },
) {
  if (activeSeconds === null) return 'unknown'
  const hours = activeSeconds / HOUR_S
  const time = hours < 0.1 ? `${Math.round(activeSeconds / 60)} min` : `${hours.toFixed(1)} h`
  return untimed === 0 ? time : `${time} (${entries - untimed} of ${entries} entries)`
}
