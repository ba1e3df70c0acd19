/** The active time of a bill's lines as text: the same in its documents and on its page. */

import type { Formats } from './locales.ts'

const HOUR_S = 3_600

export interface TimedLine {
  /** Null if it is unknown of all entries. */
  activeSeconds: number | null
  entries: number
  untimed: number
}

const isPartial = ({ activeSeconds, untimed }: TimedLine): boolean => activeSeconds !== null && untimed > 0

/** Says what the numbers in brackets are, if there are any. */
export const workHeading = (lines: readonly TimedLine[]): string =>
  lines.some(isPartial) ? 'Agent work (entries)' : 'Agent work'

/** `6.4 h`, or `6.4 h (3 of 5)` if it is not known of all entries. */
export function workText(line: TimedLine, { decimal }: Pick<Formats, 'decimal'>): string {
  const { activeSeconds, entries, untimed } = line
  if (activeSeconds === null) return 'unknown'
  const hours = activeSeconds / HOUR_S
  const time = hours < 0.1 ? `${Math.round(activeSeconds / 60)} min` : `${decimal(hours.toFixed(1), 1)} h`
  return isPartial(line) ? `${time} (${entries - untimed} of ${entries})` : time
}
