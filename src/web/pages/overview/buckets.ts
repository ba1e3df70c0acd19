/** The hours, days, weeks or months that a period is divided into, and their labels for axes and tables. */
import { dayOf, dayOfMoment, daysBetween, monthInWords, shortDay, timeOfDay } from '../../format/moments.ts'
import type { Period } from '../../parts/period.ts'

export type Width = '1h' | '1d' | '1w' | '1mo'

/** Bucket widths by the length of the period: up to two months of days, half a year of weeks. */
const DAYS_AS_HOURS = 1
const DAYS_AS_DAYS = 62
const DAYS_AS_WEEKS = 186

export function widthFor({ from, to }: Period): Width {
  const days = daysBetween(from, to) + 1
  if (days <= DAYS_AS_HOURS) return '1h'
  if (days <= DAYS_AS_DAYS) return '1d'
  return days <= DAYS_AS_WEEKS ? '1w' : '1mo'
}

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
