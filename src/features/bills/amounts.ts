/**
 * Calculates the amounts of a bill from costs (docs/design/bills.md, "Amounts"): a cost in nano-dollars, plus its
 * markup, times the exchange rate, summed exactly and rounded once, half to even, to the currency's minor unit. Lines
 * show shares of the rounded sum by largest remainder, so that they add up. Pure.
 */
import { largestRemainders } from '../../lib/largest-remainder.ts'
import { divideHalfEven, NANO_DIGITS, type Nanos, RATE_DIGITS } from '../../lib/money.ts'

/** Percentages are stored in parts per million: 12.5 % is 125,000. */
export const PPM_DIGITS = 6

const PPM_WHOLE = 10n ** BigInt(PPM_DIGITS)
const EXACT_DIGITS = NANO_DIGITS + PPM_DIGITS + RATE_DIGITS

/** An exact amount in the bill's currency: an integer of 10^-25 of its unit. */
export type Exact = bigint

/** The amount for a cost. It is linear, so costs of many entries with the same markup can be added up first. */
export function billedExactly(costNanos: Nanos, { markupPpm, rate }: { markupPpm: number; rate: bigint }): Exact {
  return costNanos * (PPM_WHOLE + BigInt(markupPpm)) * rate
}

/** Rounds to the minor unit of a currency with this number of digits, half to even. */
export function roundToMinor(exact: Exact, minorDigits: number): bigint {
  return divideHalfEven(exact, 10n ** BigInt(EXACT_DIGITS - minorDigits))
}

/**
 * Rounds `shares` to minor units so that they add up to their exact sum, rounded once. Of equal remainders the earlier line
 * gets more. A line of zero stays zero.
 */
export function apportion(shares: readonly Exact[], minorDigits: number): bigint[] {
  const sum = shares.reduce((total, share) => total + share, 0n)
  return largestRemainders(shares, 10n ** BigInt(EXACT_DIGITS - minorDigits), roundToMinor(sum, minorDigits))
}

/** The tax in parts per million of a subtotal, half to even. */
export function taxOn(subtotalMinor: bigint, taxPpm: number): bigint {
  return divideHalfEven(subtotalMinor * BigInt(taxPpm), PPM_WHOLE)
}
