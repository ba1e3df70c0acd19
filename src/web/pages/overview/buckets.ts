/** Labels of hours, days, weeks and months for axes and tables. */
import { dayOf, dayOfMoment, monthInWords, shortDay, timeOfDay } from '../../format/moments.ts'
import type { Width } from './usage.ts'

/** `17:00`, `21 Nov`, `Nov 2026`: short enough for an axis. */
export function bucketInShort(moment: string, width: Width, timeZone: string): string {
  if (width === '1h') return timeOfDay(moment, timeZone)
  return width === '1mo' ? monthInWords(dayOf(new Date(moment), timeZone)) : shortDay(moment, timeZone)
}

/** `21 Nov 2026`, `Week of 16 Nov 2026`. */
export function bucketInWords(moment: string, width: Width, timeZone: string): string {
  if (width === '1h') return timeOfDay(moment, timeZone)
  if (width === '1mo') return monthInWords(dayOf(new Date(moment), timeZone))
  const day = dayOfMoment(moment, timeZone)
  return width === '1w' ? `Week of ${day}` : day
}
