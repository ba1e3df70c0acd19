/**
 * The locale of numbers and dates: the person's, else the browser's. Set before anything is rendered. The language of
 * the texts stays English, so relative times and compact units do.
 */

/** English writes months as the texts around them do; day before month. */
const OTHERWISE = 'en-GB'

let current = OTHERWISE
let formats = new Map<string, unknown>()

/** Digits, and a calendar, that every column and axis can align and compare. */
const COMMON = '-u-ca-gregory-nu-latn'

export function setLocale(wanted: string | null): void {
  const next = known(wanted ?? (typeof navigator === 'undefined' ? undefined : navigator.language)) ?? OTHERWISE
  if (next === current) return
  current = next
  formats = new Map()
}

/** Undefined if the tag is unknown to the browser, or of a browser for tests without a region (`en-US@posix`). */
function known(tag: string | undefined): string | undefined {
  try {
    return tag === undefined ? undefined : Intl.getCanonicalLocales(tag)[0]!.replace(/-u-.*/, '')
  } catch {
    return undefined
  }
}

/** The tag for `Intl`. */
const locale = (): string => `${current}${COMMON}`

/** A format of the locale, made once: that takes a hundred times as long as using it. */
export function cached<Format>(key: string, make: (locale: string) => Format): Format {
  let format = formats.get(key) as Format | undefined
  if (!format) {
    format = make(locale())
    formats.set(key, format)
  }
  return format
}
