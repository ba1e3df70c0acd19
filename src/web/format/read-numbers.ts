/**
 * Reads numbers that people type or paste. Accepts what Tally itself shows (`1,234,567`, `$1,234.50`, and `1.23M` or
 * `515k` for counts, but not for money: a count in a field for costs must not become an amount) and spaces between
 * thousands. Whatever has two meanings is refused, and nothing is ever dropped or cut off. Pure.
 */
import { count } from './counts.ts'

/** An empty string for an empty text; the issue is a sentence that says how to write the number. */
export type NumberRead = { value: number | '' } | { issue: string }

interface Limits {
  min?: number | undefined
  max?: number | undefined
  /** A word that may follow the number, such as `days` or `%`. */
  unit?: string | undefined
}

export interface DecimalRules extends Limits {
  /** The most decimals; zeros at the end do not count. */
  digits: number
  /** ISO 4217 code: its symbol or its code may be part of the text. */
  currency?: string | undefined
}

/** No-break, figure, thin and narrow no-break spaces, which applications put between thousands. */
const SPACES = /[\u00a0\u2007\u2009\u202f\s]+/g

const NUMBER = /^(\d+|\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+)?(?:\.(\d+))?(?: ?([kmbt]))?$/i
const SCALES: Record<string, number> = { k: 3, m: 6, b: 9, t: 12 }

/** A double is exact to this many decimal digits (IEEE 754 binary64). */
const EXACT_DIGITS = 15

interface Parts {
  /** Without separators; empty for `.5`. */
  whole: string
  fraction: string
  /** The number of zeros that the unit adds. */
  scale: number
}

function partsOf(text: string): Parts | undefined {
  const [, whole = '', fraction = '', unit] = NUMBER.exec(text) ?? []
  if (whole === '' && fraction === '') return undefined
  return { whole: whole.replace(/[, ]/g, ''), fraction, scale: unit ? SCALES[unit.toLowerCase()]! : 0 }
}

/** `3.400`, which is 3.4 in English and 3,400 in German. `0.515M` is not a group of thousands in any language. */
function isAmbiguous(text: string): boolean {
  return /^[1-9]\d{0,2}\.\d{3}(?!\d)/.test(text)
}

/** The digits of the number in full: `1.23M` becomes `1230000`, and `0.5k` becomes `500`. */
function shifted({ whole, fraction, scale }: Parts): { whole: string; fraction: string } {
  const moved = fraction.slice(0, scale).padEnd(scale, '0')
  return {
    whole: `${whole}${moved}`.replace(/^0+(?=\d)/, '') || '0',
    fraction: fraction.slice(scale).replace(/0+$/, ''),
  }
}

function withoutUnit(text: string, unit: string | undefined): string {
  if (unit === undefined || !text.toLowerCase().endsWith(unit.toLowerCase())) return text
  return text.slice(0, text.length - unit.length).trimEnd()
}

const tidy = (text: string, unit: string | undefined) => withoutUnit(text.replace(SPACES, ' ').trim(), unit)

/** A whole number of at least 0: tokens, calls, days. */
export function readCount(text: string, { min = 0, max = Number.MAX_SAFE_INTEGER, unit }: Limits = {}): NumberRead {
  const tidied = withoutUnit(tidy(text, unit), 'tokens')
  if (tidied === '') return { value: '' }
  if (/^[-−]/.test(tidied)) return { issue: `Must be ${count(min)} or more.` }
  const parts = partsOf(tidied)
  if (!parts) return { issue: `“${tidied}” can’t be read. Write 1234567, 1,234,567 or 1.23M.` }
  if (isAmbiguous(tidied)) return { issue: ambiguityOf(tidied, parts) }
  const { whole, fraction } = shifted(parts)
  if (fraction !== '') return { issue: `“${tidied}” is not a whole number.` }
  return within(Number(whole), { min, max })
}

function ambiguityOf(text: string, { whole, fraction, scale }: Parts): string {
  const thousands = Number(shifted({ whole: whole + fraction, fraction: '', scale }).whole)
  const decimal = shifted({ whole, fraction, scale })
  const small = `${count(Number(decimal.whole))}${decimal.fraction && `.${decimal.fraction}`}`
  return `“${text}” could be ${count(thousands)} or ${small}. Write the number you mean without a point.`
}

/** A number with decimals: money, rates, percentages. */
export function readDecimal(text: string, rules: DecimalRules): NumberRead {
  const { digits, currency, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, unit } = rules
  const tidied = tidy(text, unit)
  if (tidied === '') return { value: '' }
  const amount = currency === undefined ? tidied : withoutCurrency(tidied, currency)
  const isNegative = /^[-−]/.test(amount)
  const positive = amount.replace(/^[-−] ?/, '')
  const parts = partsOf(positive)
  if (!parts || parts.scale > 0) return { issue: `“${tidied}” can’t be read. ${hintFor(positive, currency)}` }
  const { whole, fraction } = shifted(parts)
  if (fraction.length > digits) return { issue: `Use at most ${digits} decimals.` }
  if (`${whole}${fraction}`.replace(/^0+/, '').length > EXACT_DIGITS) {
    return { issue: `Use at most ${EXACT_DIGITS} digits.` }
  }
  const size = Number(fraction === '' ? whole : `${whole}.${fraction}`)
  return within(isNegative && size !== 0 ? -size : size, { min, max })
}

function within(value: number, { min, max }: { min: number; max: number }): NumberRead {
  if (value < min) return { issue: `Must be ${plainNumber(min)} or more.` }
  return value > max ? { issue: `Must be at most ${plainNumber(max)}.` } : { value }
}

/** The text without the symbol or the code of the currency, before or after it; a sign stays in front. */
function withoutCurrency(text: string, currency: string): string {
  const marks = currency === 'USD' ? ['US$', 'USD', '$'] : [currency, symbolOf(currency)]
  const sign = /^[-−] ?/.exec(text)?.[0] ?? ''
  const unsigned = text.slice(sign.length)
  for (const mark of marks) {
    const upper = unsigned.toUpperCase()
    const isFirst = upper.startsWith(mark)
    if (!isFirst && !upper.endsWith(mark)) continue
    const rest = isFirst ? unsigned.slice(mark.length) : unsigned.slice(0, -mark.length)
    return `${sign}${rest.trim()}`
  }
  return text
}

function symbolOf(currency: string): string {
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
  return (format.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? currency).toUpperCase()
}

function hintFor(text: string, currency: string | undefined): string {
  if (/^[\d., ]+$/.test(text)) return 'Write decimals after a point and thousands with commas, such as 1,234.50.'
  return currency === undefined ? 'Write a number, such as 12.5.' : `Write the amount in ${currency}, such as 1,234.50.`
}

const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 12 })

/** `1,234.5`: every digit, with separators. Read back, it is the same number. */
export const plainNumber = (value: number): string => plain.format(value)

/** Whether some number of a form could not be read: its value is NaN, see `parts/number-fields.tsx`. */
export function hasUnreadable(values: unknown): boolean {
  if (typeof values === 'number') return Number.isNaN(values)
  if (typeof values !== 'object' || values === null || values instanceof Date) return false
  return Object.values(values).some(hasUnreadable)
}
