/**
 * From costs to the amounts of a bill (docs/design/bills.md, "Amounts"): a cost in nano-dollars, plus its markup, times
 * the exchange rate, summed exactly and rounded once, half to even, to the currency's minor unit. Lines show shares of
 * the rounded sum by largest remainder, so that they add up. Pure.
 */
import { divideHalfEven, NANO_DIGITS, type Nanos } from '../../lib/money.ts'

/** Digits of an exchange rate after the point: a dong in dollars needs eight to be known to five places. */
export const RATE_DIGITS = 10

/** Parts per million, in which percentages are kept: 12.5 % is 125,000. */
export const PPM_DIGITS = 6

const PPM_WHOLE = 10n ** BigInt(PPM_DIGITS)
const EXACT_DIGITS = NANO_DIGITS + PPM_DIGITS + RATE_DIGITS

/** An amount in the bill's currency that nothing was rounded off: an integer of 10^-25 of its unit. */
export type Exact = bigint

/** What a cost comes to. Costs and markups of many entries are added up first where the markup is the same: it is linear. */
export function billedExactly(costNanos: Nanos, { markupPpm, rate }: { markupPpm: number; rate: bigint }): Exact {
  return costNanos * (PPM_WHOLE + BigInt(markupPpm)) * rate
}

/** To the minor unit of a currency with so many digits, half to even. */
export function roundToMinor(exact: Exact, minorDigits: number): bigint {
  return divideHalfEven(exact, 10n ** BigInt(EXACT_DIGITS - minorDigits))
}

/**
 * What each of `shares` is shown as, in minor units, so that together they are their exact sum, rounded once: each gets
 * its whole minor units, and those that lose most by that get one more (Hare's method of largest remainders). Of equal
 * remainders the earlier line comes first. A line of nothing gets nothing.
 */
export function apportion(shares: readonly Exact[], minorDigits: number): bigint[] {
  const unit = 10n ** BigInt(EXACT_DIGITS - minorDigits)
  const total = roundToMinor(
    shares.reduce((sum, share) => sum + share, 0n),
    minorDigits,
  )
  // Down, also below zero, so that what is left over is never negative.
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

/** A tax of so many parts per million on a subtotal, half to even. */
export function taxOn(subtotalMinor: bigint, taxPpm: number): bigint {
  return divideHalfEven(subtotalMinor * BigInt(taxPpm), PPM_WHOLE)
}
