/**
 * Calculates the amounts of a bill from costs (docs/design/bills.md, "Amounts"): a cost in nano-dollars, plus its
 * markup, times the exchange rate, summed exactly and rounded once, half to even, to the currency's minor unit. Lines
 * show shares of the rounded sum by largest remainder, so that they add up. Pure.
 */
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
 * Rounds `shares` to minor units so that they add up to their exact sum, rounded once: each is rounded down, and the
 * largest remainders get one more unit (Hare's method of largest remainders). Of equal remainders the earlier line gets
 * it. A line of zero stays zero.
 */
export function apportion(shares: readonly Exact[], minorDigits: number): bigint[] {
  const unit = 10n ** BigInt(EXACT_DIGITS - minorDigits)
  const total = roundToMinor(
    shares.reduce((sum, share) => sum + share, 0n),
    minorDigits,
  )
  // Rounded down, also below zero, so that the remainder is never negative.
  const floors = shares.map((share) => (share - (((share % unit) + unit) % unit)) / unit)
  let left = total - floors.reduce((sum, floor) => sum + floor, 0n)
  const byRemainder = shares
    .map((share, index) => ({ index, remainder: share - floors[index]! * unit }))
    .filter(({ remainder }) => remainder > 0n)
    .sort((one, other) =>
      one.remainder === other.remainder ? one.index - other.index : one.remainder > other.remainder ? -1 : 1,
    )
  for (const { index } of byRemainder) {
    if (left === 0n) break
    floors[index]! += 1n
    left -= 1n
  }
  return floors
}

/** The tax in parts per million of a subtotal, half to even. */
export function taxOn(subtotalMinor: bigint, taxPpm: number): bigint {
  return divideHalfEven(subtotalMinor * BigInt(taxPpm), PPM_WHOLE)
}
