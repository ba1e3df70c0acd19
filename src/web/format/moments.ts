/**
 * Formatting and arithmetic of times and days in the organization's time zone, which may differ from the browser's.
 * Days are `2026-11-21`.
 */
import { addDays, addMonths, daysBetween, firstOfMonth } from '../../shared/days.ts'
import { DAY, DAY_OF_YEAR, MONTH, TIME } from '../../shared/locales.ts'
import { cached } from './locale.ts'

export { addDays, addMonths, daysBetween, firstOfMonth }

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

/** `21 Nov 2026, 17:53` */
export const dayAndTime = (moment: string, timeZone: string): string =>
  formatOf(timeZone, { ...DAY, ...TIME }).format(new Date(moment))

/** `21 Nov, 17:53`, with the year unless it is the current one. */
export function shortDayAndTime(moment: string, timeZone: string, now = new Date()): string {
  const isThisYear = dayOf(new Date(moment), timeZone).slice(0, 4) === dayOf(now, timeZone).slice(0, 4)
  if (!isThisYear) return dayAndTime(moment, timeZone)
  return formatOf(timeZone, { ...DAY_OF_YEAR, ...TIME }).format(new Date(moment))
}

/** `17:53` */
export const timeOfDay = (moment: string, timeZone: string): string => formatOf(timeZone, TIME).format(new Date(moment))

/** The day of a time: `21 Nov 2026`. */
export const dayOfMoment = (moment: string, timeZone: string): string =>
  formatOf(timeZone, DAY).format(new Date(moment))

/** The day of a time: `21 Nov`. */
export const shortDay = (moment: string, timeZone: string): string =>
  formatOf(timeZone, DAY_OF_YEAR).format(new Date(moment))

/** `21 Nov`, with the year unless it is that of `now`. */
export function dayInShort(day: string, now = new Date()): string {
  const isThisYear = day.slice(0, 4) === now.toISOString().slice(0, 4)
  return isThisYear ? formatOf('UTC', DAY_OF_YEAR).format(new Date(`${day}T00:00:00Z`)) : dayInWords(day)
}

/** Formats a day, which has no zone: `21 Nov 2026`. */
export const dayInWords = (day: string): string => formatOf('UTC', DAY).format(new Date(`${day}T00:00:00Z`))

/** A time without a zone, of a field: `2026-11-21 17:53:00` as `21 Nov 2026, 17:53`. */
export const timeInWords = (time: string): string => dayAndTime(`${time.replace(' ', 'T')}Z`, 'UTC')

/** The months of the locale and of English, by which somebody may type one. */
const monthNames = () =>
  cached('month names', (locale) =>
    [locale, 'en'].flatMap((tag) =>
      (['long', 'short'] as const).map((month) => {
        const format = new Intl.DateTimeFormat(tag, { month, day: 'numeric', timeZone: 'UTC' })
        const nameOf = (at: number) => format.formatToParts(at).find(({ type }) => type === 'month')!.value
        return Array.from({ length: 12 }, (_, month) => nameOf(Date.UTC(2026, month, 1)).toLowerCase())
      }),
    ),
  )

/** The order in which the locale writes the parts of a day: that with a named month may be another. */
const orderOfParts = (month: 'short' | 'numeric') =>
  formatOf('UTC', { ...DAY, month })
    .formatToParts(0)
    .flatMap(({ type }) => (type === 'day' || type === 'month' || type === 'year' ? type : []))

/**
 * The day that somebody has typed: as {@link dayInWords} writes it, as ISO 8601, or with numbers in the order of the locale;
 * without a year, of the year of `now`. Null for anything else.
 */
export function readDay(text: string, now = new Date()): string | null {
  const numbers = text.match(/\d+/g) ?? []
  const word = text.toLowerCase().match(/\p{L}[\p{L}\p{M}]{2,}/u)?.[0]
  // Those of the locale first: the Finnish `marras` is November.
  const named =
    word === undefined
      ? -1
      : (monthNames()
          .map((names) => indexOfMonth(names, word))
          .find((at) => at >= 0) ?? -1)
  const isYearFirst = numbers[0]?.length === 4
  const order = (
    isYearFirst ? (['year', 'month', 'day'] as const) : orderOfParts(named < 0 ? 'numeric' : 'short')
  ).filter((part) => (named < 0 || part !== 'month') && (numbers.length > (named < 0 ? 2 : 1) || part !== 'year'))
  if (order.length !== numbers.length) return null
  const of = (part: 'day' | 'month' | 'year') => numbers[order.indexOf(part as never)]
  const year = of('year') ?? String(now.getUTCFullYear())
  const month = named < 0 ? of('month')! : String(named + 1)
  const [full, mm, dd] = [year.length === 2 ? `20${year}` : year, month.padStart(2, '0'), of('day')!.padStart(2, '0')]
  const day = `${full}-${mm}-${dd}`
  const moment = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(moment) || new Date(moment).toISOString().slice(0, 10) !== day ? null : day
}

/** By its beginning, where no other month has the same. */
function indexOfMonth(names: readonly string[], word: string): number {
  const found = names.flatMap((name, month) => (name.startsWith(word) ? month : []))
  return found.length === 1 ? found[0]! : -1
}

/** Formats the month of a day: `Nov 2026`. */
export const monthInWords = (day: string): string => formatOf('UTC', MONTH).format(new Date(`${day}T00:00:00Z`))

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

export const firstOfQuarter = (day: string): string =>
  `${day.slice(0, 4)}-${String(quarterOf(day) * 3 - 2).padStart(2, '0')}-01`

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
