/** What is charged beyond the allowance of a plan (docs/plans.md, "Allocation"). Pure. */
import type { AllowanceUnit } from '../../database/schema/values.ts'
import { divideHalfEven, NANO_DIGITS, type Nanos, RATE_DIGITS } from '../../lib/money.ts'
import { PERIOD_LIMIT } from './periods.ts'

export interface AllowanceTerms {
  /** Of a seat and a period: nano-dollars, tokens or requests; null if no limit is known. */
  allowance: bigint | null
  allowanceUnit: AllowanceUnit | null
  /** Of a dollar, token or request beyond it, in nano-units of the currency; null if nothing is charged. */
  overagePrice: bigint | null
  /** Units of the currency for a dollar, in 10^-10; null for dollars. */
  exchangeRate: bigint | null
}

/** Whether entries are charged for their cost, so that the charge of one without a cost is unknown. */
export function chargesCost({ allowance, allowanceUnit, overagePrice }: AllowanceTerms): boolean {
  return allowance !== null && allowanceUnit === 'usd' && overagePrice !== null && overagePrice > 0n
}

/** Metered shares are in 10^-9, so units that are not metered are counted in billionths. */
const SHARE = 10n ** 9n
const DOLLAR = 10n ** BigInt(NANO_DIGITS)
const ONE = 10n ** BigInt(RATE_DIGITS)

/**
 * The charge of each entry: by how much the rounded charge of all entries up to it exceeds that of those before it. So the charges
 * sum to that of all units, rounded once, and entries before the allowance is used up have none. A seat is charged no more than
 * {@link PERIOD_LIMIT}, so that no report, whatever it counts, stops the calculation for all.
 *
 * @param units of the entries in the order in which they use the allowance, in billionths of its unit
 * @param seats whose allowance they share
 */
export function chargesOf(units: readonly bigint[], seats: number, terms: AllowanceTerms): Nanos[] {
  const { allowance, allowanceUnit, overagePrice, exchangeRate } = terms
  if (allowance === null || overagePrice === null) return units.map(() => 0n)
  const included = allowance * BigInt(seats) * SHARE
  const denominator = SHARE * (allowanceUnit === 'usd' ? DOLLAR : 1n) * (exchangeRate ?? ONE)
  let used = 0n
  let charged = 0n
  return units.map((unit) => {
    used += unit
    const before = charged
    if (used > included) {
      charged = divideHalfEven((used - included) * overagePrice * ONE, denominator)
      if (charged > PERIOD_LIMIT) charged = PERIOD_LIMIT
    }
    return charged - before
  })
}
