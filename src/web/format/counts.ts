/** Formatting of counts and sizes. */
import { cached, documentFormats } from './locale.ts'

const whole = () => cached('whole', (locale) => new Intl.NumberFormat(locale))
const three = () =>
  cached(
    'three digits',
    (locale) => new Intl.NumberFormat(locale, { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }),
  )
/** Always one decimal: the points of a column are aligned, and the same share reads the same everywhere. */
const aligned = { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 } as const
const percents = () => cached('percents', (locale) => new Intl.NumberFormat(locale, aligned))
const changes = () =>
  cached('changes', (locale) => new Intl.NumberFormat(locale, { ...aligned, signDisplay: 'exceptZero' }))
const bytes = () => cached('bytes', (locale) => new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 }))

/** A number with this many decimals, or up to more: prices and amounts without a currency. */
export const decimalsOf = (value: number, least: number, most: number): string =>
  cached(
    `${least} to ${most} decimals`,
    (locale) => new Intl.NumberFormat(locale, { minimumFractionDigits: least, maximumFractionDigits: most }),
  ).format(value)

/** An English text with a number, such as `$2.5K`, with the decimal mark of the locale. */
export const marked = (text: string): string => documentFormats().marked(text)

/** Counts from here on are shown with three significant digits, which is enough to compare them. */
const ROUGH_FROM = 10_000
const UNITS = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

/** `1,234,567` */
export const count = (value: number): string => whole().format(value)

/** `1.23M`; counts below 10,000 in full. */
export function roughCount(value: number): string {
  if (Math.abs(value) < ROUGH_FROM) return count(value)
  // By the rounded value: 999,950 is 1.00M, not 1000k.
  const [size, unit] = UNITS.find(([size]) => Math.abs(value) >= size * 0.9995) ?? [1, '']
  return `${three().format(value / size)}${unit}`
}

/** Formats 0.125 as `12.5%`, 0.5 as `50.0%`, and what would read as nothing, though it is not, as `< 0.1%`. */
export const percent = (share: number): string =>
  share > 0 && share < 0.0005 ? `< ${percents().format(0.001)}` : percents().format(share)

/** Formats 0.125 as `+12.5%`, with one decimal also where it is 0. */
export const percentChange = (change: number): string => changes().format(change)

/** `1 entry`, `1,204 entries`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** `1.2 MB` */
export function fileSize(size: number): string {
  if (size < 1_000) return `${size} B`
  return size < 1e6 ? `${bytes().format(size / 1e3)} kB` : `${bytes().format(size / 1e6)} MB`
}
