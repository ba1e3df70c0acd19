/**
 * The locale of numbers and dates: the person's, else the organization's, else the browser's. Set before anything is rendered. The
 * language of the texts stays English, so relative times and compact units do.
 */
import { type Formats, formatsOf, intlTag, localeOf, USUAL_LOCALE } from '../../shared/locales.ts'

let current: string = USUAL_LOCALE
let formats = new Map<string, unknown>()

/** Undefined without a browser, and for one for tests, whose locale has no region (`en-US@posix`). */
export const browserLocale = (): string | undefined =>
  typeof navigator === 'undefined' ? undefined : localeOf(navigator.language)

/** The first of these that is known. */
export function setLocale(...wanted: (string | null)[]): void {
  const next = wanted.map((tag) => tag && localeOf(tag)).find(Boolean) || browserLocale() || USUAL_LOCALE
  if (next === current) return
  current = next
  formats = new Map()
}

/** As documents and e-mails in the locale write numbers. */
export const documentFormats = (): Formats => formatsOf(current)

/** A format of the locale, made once: that takes a hundred times as long as using it. */
export function cached<Format>(key: string, make: (locale: string) => Format): Format {
  let format = formats.get(key) as Format | undefined
  if (!format) {
    format = make(intlTag(current))
    formats.set(key, format)
  }
  return format
}
