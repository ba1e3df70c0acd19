/**
 * Money and prices as integers, never as floating-point numbers.
 *
 * A cost is a bigint of nano-dollars (1e-9 USD), a price a bigint of pico-dollars per token (1e-12 USD, which is
 * the same number as micro-dollars per million tokens). Both are read from decimal text and written as decimal text.
 */
import { exactNumber } from './exact-json.ts'

export type Nanos = bigint
export type Picos = bigint

export const NANO_DIGITS = 9
export const PICO_DIGITS = 12

/**
 * Digits of an exchange rate after the point: the value of a dong in dollars needs eight for five significant digits.
 */
export const RATE_DIGITS = 10

/** Every spelling of a decimal number in JSON, CSV or on a command line: `1`, `-0.5`, `.5`, `1e-7`. */
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/

/**
 * The integer nearest to `numerator / denominator`. Ties are rounded to even (IEEE 754 roundTiesToEven), so that many
 * roundings do not drift upwards. `denominator` must be positive.
 */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const negative = numerator < 0n
  const magnitude = negative ? -numerator : numerator
  let quotient = magnitude / denominator
  const twiceRest = (magnitude % denominator) * 2n
  if (twiceRest > denominator || (twiceRest === denominator && quotient % 2n === 1n)) quotient += 1n
  return negative ? -quotient : quotient
}

/** More digits before the point than any amount has, so that an exponent cannot exhaust memory. */
const WHOLE_DIGITS_LIMIT = 400

/**
 * Parses decimal text as an integer of 10^-`digits` units; further digits, however many, are rounded half to even.
 * Returns undefined if the text is not a decimal number or has more than 400 digits before the point.
 */
export function parseDecimal(text: string, digits: number): bigint | undefined {
  return readDecimal(text, digits)?.units
}

/** Like {@link parseDecimal}, but undefined if a digit other than zero would be rounded away. */
export function parseExactDecimal(text: string, digits: number): bigint | undefined {
  const read = readDecimal(text, digits)
  return read?.isExact ? read.units : undefined
}

function readDecimal(text: string, digits: number): { units: bigint; isExact: boolean } | undefined {
  const match = DECIMAL.exec(text.trim())
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  if (whole === '' && fraction === '') return undefined
  const significant = (whole + fraction).replace(/^0+/, '')
  if (significant === '') return { units: 0n, isExact: true }
  const wholeDigits = significant.length - fraction.length + Number(exponent)
  if (wholeDigits + digits < 0) return { units: 0n, isExact: false }
  if (wholeDigits > WHOLE_DIGITS_LIMIT) return undefined
  const kept = wholeDigits + digits
  const truncated = BigInt(significant.slice(0, kept).padEnd(kept, '0'))
  const rest = significant.slice(kept)
  const units = roundsUp(rest, truncated) ? truncated + 1n : truncated
  return { units: sign === '-' ? -units : units, isExact: !/[1-9]/.test(rest) }
}

/** Whether the digits after `units` are more than half a unit, or exactly half with odd `units`. */
function roundsUp(digits: string, units: bigint): boolean {
  const first = Number(digits.charAt(0))
  if (first !== 5) return first > 5
  return units % 2n === 1n || /[1-9]/.test(digits.slice(1))
}

/** An integer of 10^-`digits` units as plain decimal text without trailing zeros: `-0.063354`, `12`. */
export function formatDecimal(units: bigint, digits: number): string {
  const negative = units < 0n
  const padded = (negative ? -units : units).toString().padStart(digits + 1, '0')
  const whole = padded.slice(0, padded.length - digits)
  const fraction = padded.slice(padded.length - digits).replace(/0+$/, '')
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/**
 * Nano-dollars as a JSON number for a response. The digits are exact at any size: `JSON.stringify` writes them
 * unchanged. Typed as a number because that is what clients receive; never calculate with it.
 */
export function moneyNumber(nanos: Nanos): number
export function moneyNumber(nanos: Nanos | null): number | null
export function moneyNumber(nanos: Nanos | null): number | null {
  return nanos === null ? null : decimalNumber(nanos, NANO_DIGITS)
}

/** The nano-dollars of an amount from {@link moneyNumber}, or of a response that was read exactly. */
export const moneyNanos = (amount: number): Nanos => parseDecimal(JSON.stringify(amount), NANO_DIGITS)!

/** The text of {@link decimalNumber} in JSON. A number of units must be exact. */
export function decimalText(units: number | bigint, digits: number): string {
  if (typeof units === 'number' && units < ROUND_TRIP_LIMIT && units > -ROUND_TRIP_LIMIT) {
    const number = units / 10 ** digits
    if (number === 0 || Math.abs(number) >= SMALLEST_PLAIN) return String(number)
  }
  return formatDecimal(BigInt(units), digits)
}

/** A decimal number of up to 15 digits survives the conversion to a double and back (IEEE 754 binary64). */
const ROUND_TRIP_LIMIT = 1e15

/** JavaScript writes smaller numbers with an exponent. */
const SMALLEST_PLAIN = 1e-6

/**
 * Like {@link moneyNumber}, for an exact integer of 10^-`digits` units, with at most 22 digits. Returns an ordinary number if
 * its text has exactly these digits: `JSON.stringify` needs four times as long for an object that contains raw JSON.
 */
export function decimalNumber(units: number | bigint, digits: number): number {
  if (units < ROUND_TRIP_LIMIT && units > -ROUND_TRIP_LIMIT) {
    // Both operands are exact, so the quotient is the double nearest to the decimal number.
    const number = Number(units) / 10 ** digits
    if (number === 0 || Math.abs(number) >= SMALLEST_PLAIN) return number
  }
  const text = formatDecimal(BigInt(units), digits)
  const number = Number(text)
  return String(number) === text ? number : exactNumber(text)
}
