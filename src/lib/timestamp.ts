/**
 * Timestamps as text: RFC 3339, and the other forms of ISO 8601 that common tools print. All of them have an offset,
 * because a time without one is a different moment in each zone. Moments are milliseconds since 1970.
 */

/** RFC 3339, 5.6, which nearly all callers send, and which the engine reads fast. */
const USUAL = /^\d{4}-\d{2}-\d{2}[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/

/**
 * Also without separators (`20261120T175304Z`), without seconds, with a comma before the fraction, a space instead of
 * the T or before the offset, and an offset without a colon or without minutes. For JSON Schema, so without names.
 */
export const TIMESTAMP =
  '^\\d{4}(-\\d{2}-\\d{2}|\\d{4})[Tt ]([01]\\d|2[0-3])(:[0-5]\\d(:([0-5]\\d|60)([.,]\\d{1,9})?)?|[0-5]\\d(([0-5]\\d|60)([.,]\\d{1,9})?)?) ?([Zz]|[+-]\\d{2}(:?\\d{2})?)$'

export const TIMESTAMP_EXPECTED = 'must be a timestamp with a UTC offset, such as 2026-11-20T17:53:04Z'

const TIMESTAMP_PATTERN = new RegExp(TIMESTAMP)

/** The digits of a text that matches {@link TIMESTAMP}. */
const PARTS = /^(\d{4})-?(\d{2})-?(\d{2}).(\d{2}):?(\d{2}):?(\d{2})?(?:[.,](\d+))? ?(?:[Zz]|([+-]\d{2}):?(\d{2})?)$/

/** RFC 3339 has no timestamp before or after, though offsets in the first and the last hours would result in one. */
const FIRST = Date.parse('0000-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

/** Whether a timestamp can say the moment. */
export function isWritable(moment: number): boolean {
  return moment >= FIRST && moment <= LAST
}

/** Whether the text is written like a timestamp, even of a day that does not exist. */
export function isTimestamp(text: string): boolean {
  return USUAL.test(text) || TIMESTAMP_PATTERN.test(text)
}

/**
 * Milliseconds of a timestamp (finer fractions are cut off); undefined if it has no offset, or a day or time that does
 * not exist.
 */
export function parseTimestamp(text: string): number | undefined {
  const moment = parseUtc(text)
  if (moment !== undefined) return moment
  if (USUAL.test(text)) return parseUsual(text)
  return TIMESTAMP_PATTERN.test(text) ? parseUsual(usualForm(text)) : undefined
}

const [ZERO, DASH, COLON, DOT, LETTER_T, LETTER_Z] = [...'0-:.TZ'].map((character) => character.charCodeAt(0))

/**
 * The moment of a text as `Date.toISOString` writes it, with or without milliseconds. Undefined for any other, which may
 * be a timestamp nevertheless. Reports with slices have hundreds of them.
 */
function parseUtc(text: string): number | undefined {
  const { length } = text
  if ((length !== 24 && length !== 20) || text.charCodeAt(length - 1) !== LETTER_Z) return undefined
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH || text.charCodeAt(10) !== LETTER_T) return undefined
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return undefined
  if (length === 24 && text.charCodeAt(19) !== DOT) return undefined
  // No destructuring of arrays: it compiles to an iteration, which takes a multiple of the code.
  const year = numberAt(text, 0, 4)
  const month = numberAt(text, 5, 7)
  const day = numberAt(text, 8, 10)
  const hour = numberAt(text, 11, 13)
  const minute = numberAt(text, 14, 16)
  const second = numberAt(text, 17, 19)
  const fraction = length === 24 ? numberAt(text, 20, 23) : 0
  // Date.UTC takes years before 100 for those of the last century.
  const isPossible = year >= 100 && month >= 1 && month <= 12 && day >= 1 && hour < 24 && minute < 60 && second < 60
  if (!isPossible || Number.isNaN(fraction)) return undefined
  const date = (year * 100 + month) * 100 + day
  if (date !== latest.date) {
    if (!(day <= 28 || day <= daysInMonth(year, month))) return undefined
    latest.date = date
    latest.midnight = Date.UTC(year, month - 1, day)
  }
  return latest.midnight + ((hour * 60 + minute) * 60 + second) * 1_000 + fraction
}

/** Most texts are of the same day as the one before. */
const latest = { date: 0, midnight: 0 }

/** The number of these digits; NaN if they are none, so that no comparison with it holds. */
function numberAt(text: string, from: number, to: number): number {
  let number = 0
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - ZERO!
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    number = 10 * number + digit
  }
  return number
}

function usualForm(text: string): string {
  const [, year, month, day, hour, minute, second = '00', fraction, offset, minutes = '00'] = PARTS.exec(text)!
  const zone = offset === undefined ? 'Z' : `${offset}:${minutes}`
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}${zone}`
}

function parseUsual(text: string): number | undefined {
  // Date.parse reads the usual form fast, but accepts some impossible days as days of the next month.
  const milliseconds = Date.parse(text)
  if (Number.isNaN(milliseconds)) return leapSecond(text)
  if (!isWritable(milliseconds)) return undefined
  const day = Number(text.slice(8, 10))
  return day > 28 && day > daysInMonth(Number(text.slice(0, 4)), Number(text.slice(5, 7))) ? undefined : milliseconds
}

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** RFC 3339 allows a 60th second; like POSIX, Tally can't represent it and uses the 59th. */
function leapSecond(text: string): number | undefined {
  if (text.slice(17, 19) !== '60') return undefined
  return parseUsual(`${text.slice(0, 17)}59${text.slice(19)}`)
}
