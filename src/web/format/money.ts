/** Money as people read it. The exact amount is always one hover or focus away. */

/** Below a dollar cents say too little: a session costs a tenth of one. */
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

/** `$1,234.57`, and `$0.0634` where it is less than one. An amount that is not 0 never reads as 0. */
export function money(amount: number, currency = 'USD'): string {
  const magnitude = Math.abs(amount)
  if (magnitude === 0 || magnitude >= SMALL) return formatOf(currency, undefined, undefined).format(amount)
  const digits = magnitude < 0.0001 ? 9 : 4
  return formatOf(currency, Math.min(4, digits), digits).format(amount)
}

/** What a session costs is often less than a cent. */
const FINE_DIGITS = 4
const FINEST = 10 ** -FINE_DIGITS

/** From here on a column that is made for what sessions cost would cut digits off: `$123,45…`. */
const WIDE = 1_000
const WIDEST = 100_000

/** `$2.3600`: all amounts of a column with as many decimals. One that would read as 0 and is not is `<$0.0001`, and `$123.5M` is as long as fits. */
export function fineMoney(amount: number, currency = 'USD'): string {
  const magnitude = Math.abs(amount)
  if (magnitude >= WIDEST) return roughMoney(amount, currency)
  if (magnitude >= WIDE) return money(amount, currency)
  const format = formatOf(currency, FINE_DIGITS, FINE_DIGITS)
  return amount > 0 && amount < FINEST ? `<${format.format(FINEST)}` : format.format(amount)
}

/** Every digit there is, for a tooltip or what is copied. */
export const exactMoney = (amount: number, currency = 'USD'): string => formatOf(currency, 2, 9).format(amount)

/** As bills have it: to the currency's minor unit, neither more nor less. */
export const billedMoney = (amount: number, currency: string): string =>
  formatOf(currency, undefined, undefined).format(amount)

/** `$1.2k`: for the axis of a chart. */
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
