/** Formatting of money. The exact amount is always shown on hover or focus. */

/** Amounts below this are shown with more digits than cents, because a session often costs less than a cent. */
const SMALL = 1

const formats = new Map<string, Intl.NumberFormat>()

function formatOf(currency: string, minimum: number | undefined, maximum: number | undefined): Intl.NumberFormat {
  const key = `${currency} ${minimum} ${maximum}`
  let format = formats.get(key)
  if (!format) {
    format = new Intl.NumberFormat('en-US', {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      ...(minimum === undefined ? {} : { minimumFractionDigits: minimum }),
      ...(maximum === undefined ? {} : { maximumFractionDigits: maximum }),
    })
    formats.set(key, format)
  }
  return format
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

/** Larger amounts get fewer digits, so that they fit into a column for session costs. */
const WIDE = 1_000
const WIDEST = 100_000

/** `$2.3600`: for columns, with four decimals in each row. Tiny amounts are `<$0.0001`, large ones `$123.5M`. */
export function fineMoney(amount: number, currency = 'USD'): string {
  const magnitude = Math.abs(amount)
  if (magnitude >= WIDEST) return roughMoney(amount, currency)
  if (magnitude >= WIDE) return money(amount, currency)
  const format = formatOf(currency, FINE_DIGITS, FINE_DIGITS)
  return amount > 0 && amount < FINEST ? `<${format.format(FINEST)}` : format.format(amount)
}

/** The exact amount, for tooltips and copying. */
export const exactMoney = (amount: number, currency = 'USD'): string => formatOf(currency, 2, 9).format(amount)

/** As on bills: rounded to the currency's minor unit. */
export const billedMoney = (amount: number, currency: string): string =>
  formatOf(currency, undefined, undefined).format(amount)

/** `$1.2K`: for chart axes. */
export function roughMoney(amount: number, currency = 'USD'): string {
  const key = `${currency} rough`
  let format = formats.get(key)
  if (!format) {
    format = new Intl.NumberFormat('en-US', {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      notation: 'compact',
      maximumFractionDigits: 1,
    })
    formats.set(key, format)
  }
  return format.format(amount)
}
