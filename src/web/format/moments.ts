/**
 * Formatting and arithmetic of times and days in the organization's time zone, which may differ from the browser's.
 * Days are `2026-11-21`.
 */
import { cached } from './locale.ts'

const DAY_MS = 86_400_000
const HALF_DAY_MS = DAY_MS / 2

const CLOCK: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
  hourCycle: 'h23',
}

const formatOf = (timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  cached(
    `${timeZone} ${JSON.stringify(options)}`,
    (locale) => new Intl.DateTimeFormat(locale, { timeZone, ...options }),
  )

const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' }
const TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }

/** `21 Nov 2026, 17:53` */
export const dayAndTime = (moment: string, timeZone: string): string =>
  formatOf(timeZone, { ...DAY, ...TIME }).format(new Date(moment))

/** `21 Nov, 17:53`, with the year unless it is the current one. */
export function shortDayAndTime(moment: string, timeZone: string, now = new Date()): string {
  const isThisYear = dayOf(new Date(moment), timeZone).slice(0, 4) === dayOf(now, timeZone).slice(0, 4)
  if (!isThisYear) return dayAndTime(moment, timeZone)
  return formatOf(timeZone, { day: 'numeric', month: 'short', ...TIME }).format(new Date(moment))
}

/** `17:53` */
export const timeOfDay = (moment: string, timeZone: string): string => formatOf(timeZone, TIME).format(new Date(moment))

/** The day of a time: `21 Nov 2026`. */
export const dayOfMoment = (moment: string, timeZone: string): string =>
  formatOf(timeZone, DAY).format(new Date(moment))

/** The day of a time: `21 Nov`. */
export const shortDay = (moment: string, timeZone: string): string =>
  formatOf(timeZone, { day: 'numeric', month: 'short' }).format(new Date(moment))

/** `21 Nov`, with the year unless it is that of `now`. */
export function dayInShort(day: string, now = new Date()): string {
  const isThisYear = day.slice(0, 4) === now.toISOString().slice(0, 4)
  return isThisYear
    ? formatOf('UTC', { day: 'numeric', month: 'short' }).format(new Date(`${day}T00:00:00Z`))
    : dayInWords(day)
}

/** Formats a day, which has no zone: `21 Nov 2026`. */
export const dayInWords = (day: string): string => formatOf('UTC', DAY).format(new Date(`${day}T00:00:00Z`))

const TOKENS: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = { day: 'D', month: 'MMM', year: 'YYYY' }

/** How {@link dayInWords} writes days, for fields in which one types them: `D MMM YYYY`, as dayjs reads it. */
export function dayPattern(): string {
  const parts = formatOf('UTC', DAY).formatToParts(0)
  return parts
    .map(({ type, value }) => (type === 'month' && /^\d/.test(value) ? 'M' : (TOKENS[type] ?? `[${value}]`)))
    .join('')
    .replaceAll('[ ]', ' ')
}

/** The same with the time of day, as {@link dayAndTime} writes both. */
export const dayAndTimePattern = (): string => `${dayPattern()}, HH:mm`

/** Formats the month of a day: `Nov 2026`. */
export const monthInWords = (day: string): string =>
  formatOf('UTC', { month: 'short', year: 'numeric' }).format(new Date(`${day}T00:00:00Z`))

/** Formats the month of a day without its year: `Nov`. */
export const monthInShort = (day: string): string =>
  formatOf('UTC', { month: 'short' }).format(new Date(`${day}T00:00:00Z`))

/** Formats the quarter of a day: `Q4 2026`. */
export const quarterInWords = (day: string): string => `Q${quarterOf(day)} ${day.slice(0, 4)}`

/** From 1 to 4. */
const quarterOf = (day: string): number => Math.ceil(Number(day.slice(5, 7)) / 3)

/** The number of the week that a day is in (ISO 8601): that of its Thursday, from 1 January on. */
export function isoWeekOf(day: string): number {
  const weekday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7
  const thursday = addDays(day, 3 - weekday)
  return Math.floor(daysBetween(`${thursday.slice(0, 4)}-01-01`, thursday) / 7) + 1
}

/** Cached, because creating a format takes a hundred times as long as using it, and tables have hundreds of times. */
const isoDays = new Map<string, Intl.DateTimeFormat>()

/** The day in the zone at a time: `2026-11-21`. */
export function dayOf(moment: Date, timeZone: string): string {
  // Canadian English writes a day as ISO 8601 does.
  let format = isoDays.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
    isoDays.set(timeZone, format)
  }
  return format.format(moment)
}

/** The start of a day in the zone, as an API timestamp: `2026-11-20T23:00:00.000Z`. */
export const startOfDay = (day: string, timeZone: string): string => momentOf(`${day} 00:00:00`, timeZone)

/**
 * Converts a local time in the zone, `2026-11-21 17:53:00`, to a timestamp. A local time that occurs twice, when clocks
 * are set back, is the earlier one; one that never occurs, when clocks are set forward, is the first time after it.
 */
export function momentOf(time: string, timeZone: string): string {
  const wanted = Date.parse(`${time.replace(' ', 'T')}Z`)
  // The zone's offset near that time: its local time read as UTC, minus the time.
  const offsetAt = (moment: number) => clockOf(moment, timeZone) - moment
  const guesses = [wanted - offsetAt(wanted - HALF_DAY_MS), wanted - offsetAt(wanted + HALF_DAY_MS)]
  const exact = guesses.filter((guess) => clockOf(guess, timeZone) === wanted)
  return new Date(exact.length > 0 ? Math.min(...exact) : Math.max(...guesses)).toISOString()
}

/** The local time in the zone: `2026-11-21 17:53:00`. */
export const timeAt = (moment: string, timeZone: string): string =>
  new Date(clockOf(Date.parse(moment), timeZone)).toISOString().slice(0, 19).replace('T', ' ')

function clockOf(moment: number, timeZone: string): number {
  const parts = formatOf(timeZone, CLOCK).formatToParts(moment)
  const of = (type: string) => Number(parts.find((part) => part.type === type)!.value)
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
}

/** The day `days` later, or earlier if negative. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)

export const firstOfMonth = (day: string): string => `${day.slice(0, 7)}-01`

export const firstOfQuarter = (day: string): string =>
  `${day.slice(0, 4)}-${String(quarterOf(day) * 3 - 2).padStart(2, '0')}-01`

/** The first day of the month `months` later, or earlier if negative. */
export function addMonths(day: string, months: number): string {
  const date = new Date(`${firstOfMonth(day)}T00:00:00Z`)
  date.setUTCMonth(date.getUTCMonth() + months)
  return date.toISOString().slice(0, 10)
}

/** The number of days between two days; 0 if they are the same. */
export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS)

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const SHORT_STEPS = [
  ['h', 3_600],
  ['min', 60],
] as const

/** `5 min ago`, `2 h ago`, `yesterday`. */
export function ago(moment: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(moment) - now) / 1_000)
  const days = Math.trunc(seconds / 86_400)
  if (days !== 0) return relative.format(days, 'day')
  for (const [unit, size] of SHORT_STEPS) {
    const count = Math.floor(Math.abs(seconds) / size)
    if (count > 0) return seconds < 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`
  }
  return 'just now'
}

/** The time between two timestamps: `1 h 12 min`. */
export const duration = (from: string, to: string): string =>
  secondsInWords((Date.parse(to) - Date.parse(from)) / 1_000)

/** `1 h 12 min` */
export function secondsInWords(exactly: number): string {
  const seconds = Math.round(exactly)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
