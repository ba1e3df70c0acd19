/** Formatting of money. The exact amount is always shown on hover or focus. */
import { cached } from './locale.ts'

/** Amounts below this are shown with more digits than cents, because a session often costs less than a cent. */
const SMALL = 1

function formatOf(currency: string, minimum: number | undefined, maximum: number | undefined): Intl.NumberFormat {
  return cached(
    `${currency} ${minimum} ${maximum}`,
    (locale) =>
      new Intl.NumberFormat(locale, {
        style: 'currency',
        currency,
        currencyDisplay: 'narrowSymbol',
        ...(minimum === undefined ? {} : { minimumFractionDigits: minimum }),
        ...(maximum === undefined ? {} : { maximumFractionDigits: maximum }),
      }),
  )
}

/** `$1,234.57`, or `$0.0634` below one dollar. An amount other than 0 never reads as 0. */
export function money(amount: number, currency = 'USD'): string {
  const magnitude = Math.abs(amount)
  if (magnitude === 0 || magnitude >= SMALL) return formatOf(currency, undefined, undefined).format(amount)
  const digits = magnitude < 0.0001 ? 9 : 4
  return formatOf(currency, Math.min(4, digits), digits).format(amount)
}

/** Decimals in columns of small amounts: a session often costs less than a cent. */
const FINE_DIGITS = 4
const FINEST = 10 ** -FINE_DIGITS

/** Larger amounts have the decimals of the currency, so that they fit into a column. */
const FINE_MAX = 1_000_000

/** Larger amounts do not fit into a column. */
const WIDEST = 100_000_000

/**
 * `$2.3600`: for columns, with four decimals in each row. Tiny amounts are `<$0.0001`, large ones `$1,230,000.00`, and
 * huge ones `$123.5M`.
 */
export function fineMoney(amount: number, currency = 'USD'): string {
  const magnitude = Math.abs(amount)
  if (magnitude >= WIDEST) return roughMoney(amount, currency)
  if (magnitude >= FINE_MAX) return columnMoney(amount, currency)
  return orLess(amount, FINEST, formatOf(currency, FINE_DIGITS, FINE_DIGITS))
}

/**
 * `$2.36`: for columns, with the decimals of the currency in each row, so that the points are aligned. An amount that
 * would read as 0 is `<$0.01`.
 */
export function columnMoney(amount: number, currency = 'USD'): string {
  const format = formatOf(currency, undefined, undefined)
  return orLess(amount, 10 ** -format.resolvedOptions().maximumFractionDigits!, format)
}

/** `$1,631`: of forecasts, whose cents would be made up. */
export const wholeMoney = (amount: number, currency = 'USD'): string => orLess(amount, 1, formatOf(currency, 0, 0))

function orLess(amount: number, least: number, format: Intl.NumberFormat): string {
  if (amount === 0 || Math.abs(amount) >= least) return format.format(amount)
  return amount > 0 ? `<${format.format(least)}` : `>${format.format(-least)}`
}

/** The exact amount, for tooltips and copying. */
export const exactMoney = (amount: number, currency = 'USD'): string => formatOf(currency, 2, 9).format(amount)

/** As on bills: rounded to the currency's minor unit. */
export const billedMoney = (amount: number, currency: string): string =>
  formatOf(currency, undefined, undefined).format(amount)

/** Of axes, from the largest on. The texts are English, so are the units. */
const ROUGH_UNITS = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
] as const

/** `$1.2K`: for chart axes. */
export function roughMoney(amount: number, currency = 'USD'): string {
  const format = cached(
    `${currency} rough`,
    (locale) =>
      new Intl.NumberFormat(locale, {
        style: 'currency',
        currency,
        currencyDisplay: 'narrowSymbol',
        minimumFractionDigits: 0,
        maximumFractionDigits: 1,
      }),
  )
  // By the rounded value: 999,960 is 1M, not 1,000K.
  const [size, unit] = ROUGH_UNITS.find(([size]) => Math.abs(amount) >= size * 0.99995) ?? [1, '']
  const parts = format.formatToParts(amount / size)
  const last = parts.findLastIndex(({ type }) => type === 'integer' || type === 'fraction')
  return parts.map(({ value }, at) => (at === last ? `${value}${unit}` : value)).join('')
}
