/** The hours, days, weeks, months, quarters or years that a period is divided into, and their labels. */
import {
  dayOf,
  dayOfMoment,
  daysBetween,
  isoWeekOf,
  monthInWords,
  quarterInWords,
  shortDay,
  timeOfDay,
} from '../../format/moments.ts'
import type { Weekday } from '../../format/weekdays.ts'
import type { Period } from '../period.ts'
import type { ChartPoint } from './series.ts'

/**
 * From narrow to wide, with their length in days, and the longest period in days that they divide by default: two months
 * of days, half a year of weeks, five years of months, fifteen of quarters.
 */
const WIDTHS = {
  '1h': { title: 'Hours', days: 1 / 24, usualUpTo: 1 },
  '1d': { title: 'Days', days: 1, usualUpTo: 62 },
  '1w': { title: 'Weeks', days: 7, usualUpTo: 186 },
  '1mo': { title: 'Months', days: 28, usualUpTo: 1_736 },
  '1q': { title: 'Quarters', days: 90, usualUpTo: 5_479 },
  '1y': { title: 'Years', days: 365, usualUpTo: Number.POSITIVE_INFINITY },
} as const

export type Width = keyof typeof WIDTHS

const ALL = Object.keys(WIDTHS) as Width[]

/** A year of days; more bars are thinner than a pixel on small screens. */
const MOST_BARS = 370

const daysOf = ({ from, to }: Period): number => daysBetween(from, to) + 1

/** The widths that divide the period into more than one bar, and not too many to see. */
export function widthsFor(period: Period): { value: Width; label: string }[] {
  const bars = (width: Width) => daysOf(period) / WIDTHS[width].days
  const offered = ALL.filter((width) => bars(width) > 1 && bars(width) <= MOST_BARS)
  return offered.map((value) => ({ value, label: WIDTHS[value].title }))
}

/** The chosen width if it suits the period, otherwise the one whose bars are wide enough to point at. */
export function widthFor(period: Period, chosen?: string): Width {
  const suitable = widthsFor(period).find(({ value }) => value === chosen)
  return suitable?.value ?? ALL.find((width) => daysOf(period) <= WIDTHS[width].usualUpTo)!
}

/** What decides where buckets begin. */
export interface BucketCalendar {
  time_zone: string
  week_start: Weekday
}

/** `17:00`, `21 Nov`, `Nov 2026`, `Q4 2026`: short enough for an axis. */
export function bucketInShort(moment: string, width: Width, { time_zone }: Pick<BucketCalendar, 'time_zone'>): string {
  const day = dayOf(new Date(moment), time_zone)
  switch (width) {
    case '1h':
      return timeOfDay(moment, time_zone)
    case '1mo':
      return monthInWords(day)
    case '1q':
      return quarterInWords(day)
    case '1y':
      return day.slice(0, 4)
    default:
      return shortDay(moment, time_zone)
  }
}

/**
 * `21 Nov 2026`, `Week 47, from 16 Nov 2026`. Only weeks that start on Monday have a number, which ISO 8601 defines.
 */
export function bucketInWords(moment: string, width: Width, calendar: BucketCalendar): string {
  const { time_zone, week_start } = calendar
  const day = dayOfMoment(moment, time_zone)
  if (width === '1d') return day
  if (width !== '1w') return bucketInShort(moment, width, calendar)
  return week_start === 'monday'
    ? `Week ${isoWeekOf(dayOf(new Date(moment), time_zone))}, from ${day}`
    : `Week of ${day}`
}

/** A bar of a chart over time. */
export const pointOf = (moment: string, width: Width, calendar: BucketCalendar): ChartPoint => ({
  key: moment,
  short: bucketInShort(moment, width, calendar),
  title: bucketInWords(moment, width, calendar),
})
