/**
 * Hare's method of largest remainders: fractions are rounded so that they add up to a whole number. Each is rounded down,
 * and those with the largest remainders get one more. Pure.
 */

/**
 * @param numerators of fractions with one positive denominator, which sum to `total` within less than one for each that is
 * not a whole number
 * @param precedes orders the positions of fractions with equal remainders; by default, the earlier one precedes
 */
export function largestRemainders(
  numerators: readonly bigint[],
  denominator: bigint,
  total: bigint,
  precedes: (one: number, other: number) => number = (one, other) => one - other,
): bigint[] {
  const remainders: bigint[] = []
  const whole: bigint[] = []
  let left = total
  for (const numerator of numerators) {
    // Rounded down, also below zero, so that the remainder is never negative.
    const remainder = ((numerator % denominator) + denominator) % denominator
    const floor = (numerator - remainder) / denominator
    remainders.push(remainder)
    whole.push(floor)
    left -= floor
  }
  if (left === 0n) return whole
  const byRemainder = [...remainders.keys()]
    .filter((position) => remainders[position]! > 0n)
    .sort((one, other) =>
      remainders[one]! === remainders[other]! ? precedes(one, other) : remainders[one]! > remainders[other]! ? -1 : 1,
    )
  for (const position of byRemainder.slice(0, Number(left))) whole[position]! += 1n
  return whole
}
