/**
 * How a locale writes dates and numbers: the same in pages, documents and e-mails. The language of the texts around them stays
 * English, and so do units. Nothing is ever read back from these texts. Pure.
 */

/** Unicode extensions (`-u-…`) would choose other digits and calendars, which no column aligns. */
export const LOCALE = '^[a-zA-Z]{2,3}(-[a-zA-Z]{4})?(-([a-zA-Z]{2}|[0-9]{3}))?$'

const SHAPE = new RegExp(LOCALE)

/** A BCP 47 tag in its canonical case; undefined if no locale is known by it, in whose place a format would use any other. */
export const localeOf = (tag: string): string | undefined =>
  SHAPE.test(tag) ? Intl.DateTimeFormat.supportedLocalesOf(Intl.getCanonicalLocales(tag))[0] : undefined

/** Those that are offered: of each order of day, month and year, and of separators. Any other can be set. */
export const LOCALES = [
  'en-GB',
  'en-US',
  'en-CA',
  'de-DE',
  'de-CH',
  'fr-FR',
  'es-ES',
  'it-IT',
  'nl-NL',
  'pl-PL',
  'pt-BR',
  'sv-SE',
  'ja-JP',
] as const

/** Of pages if nobody has chosen one: day before month, and English months as in the texts around them. */
export const USUAL_LOCALE = 'en-GB'

/** The tag for `Intl`, with digits and a calendar that every column and axis can align and compare. */
export const intlTag = (locale: string): string => `${locale}-u-ca-gregory-nu-latn`

export const DAY_OF_YEAR: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' }
export const MONTH: Intl.DateTimeFormatOptions = { month: 'short', year: 'numeric' }
export const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' }
export const TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }

/** What documents and e-mails contain. */
export interface Formats {
  /** `21 Nov 2026` */
  day(day: string): string
  days(from: string, to: string): string
  /** Like `day`, without some of it: `21 Nov`, `Nov 2026`. */
  partOf(day: string, options: Intl.DateTimeFormatOptions): string
  /** `21 Nov 2026, 17:53` */
  moment(at: number, timeZone: string): string
  /** Every digit of a decimal number and at least this number of decimals: `1,234.50` for `1234.5`. */
  decimal(number: string, decimals?: number): string
  /** `$1,234.50` */
  money(amount: number, currency?: string): string
  /** `+12.5%` of a change by 0.125. */
  change(change: number): string
  /** `1 entry`, `1,204 entries`, of a whole number, which may be an exact number of JSON as well. */
  counted(count: number, one: string, many?: string): string
  /** An English text with a number, such as `1.2M`, with the decimal mark of the locale. */
  marked(text: string): string
}

/** More decimals than any number has that people are shown. */
const DECIMALS = 20

function make(locale: string | null): Formats {
  const formats = new Map<string, unknown>()
  function cached<Format>(key: string, create: (tag: string) => Format): Format {
    const format = (formats.get(key) as Format | undefined) ?? create(intlTag(locale ?? 'en'))
    formats.set(key, format)
    return format
  }
  const dates = (timeZone: string, options: Intl.DateTimeFormatOptions) =>
    cached(`${timeZone} ${Object.keys(options)}`, (tag) => new Intl.DateTimeFormat(tag, { timeZone, ...options }))
  const decimal: Formats['decimal'] = (number, decimals = 0) =>
    // The exact digits of the text, not those of the double next to it.
    cached(
      `${decimals}`,
      (tag) => new Intl.NumberFormat(tag, { minimumFractionDigits: decimals, maximumFractionDigits: DECIMALS }),
    )
      .format(number as Intl.StringNumericLiteral)
      // The fonts of documents have no narrow space.
      .replaceAll('\u202f', '\u00a0')
  const partOf: Formats['partOf'] = (text, options) => dates('UTC', options).format(new Date(`${text}T00:00:00Z`))
  const day: Formats['day'] = (text) => (locale === null ? text : partOf(text, DAY))
  return {
    day,
    partOf,
    days: (from, to) => `${day(from)} – ${day(to)}`,
    // Swedish writes both as ISO 8601 does, but for the T.
    moment: (at, timeZone) =>
      locale === null
        ? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at)
        : dates(timeZone, { ...DAY, ...TIME }).format(at),
    decimal,
    money: (amount, currency = 'USD') =>
      cached(
        currency,
        (tag) =>
          new Intl.NumberFormat(tag, {
            style: 'currency',
            currency,
            // The dollars of costs need no country; those of several currencies do.
            currencyDisplay: currency === 'USD' ? 'narrowSymbol' : 'symbol',
          }),
      ).format(amount),
    change: (change) =>
      cached(
        '%',
        (tag) => new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' }),
      ).format(change),
    counted: (count, one, many = `${one}s`) => `${decimal(JSON.stringify(count))} ${Number(count) === 1 ? one : many}`,
    marked: (text) => text.replace('.', decimal('0.5').charAt(1)),
  }
}

const made = new Map<string | null, Formats>()

/** Of no locale: days as ISO 8601 and numbers as in English, as before the organization had one. */
export function formatsOf(locale: string | null | undefined): Formats {
  const known = made.get(locale ?? null) ?? make(locale ?? null)
  made.set(locale ?? null, known)
  return known
}
