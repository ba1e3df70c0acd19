/** Serializes reports. */

import type { Span } from '../../lib/calendar.ts'
import { timestamp } from '../../lib/duration.ts'
import { decimalNumber, divideHalfEven, moneyNumber } from '../../lib/money.ts'
import type { SumsRow } from './sums.ts'

/** The sums of no entries. */
export const NO_FIGURES = {
  entries: 0,
  unpriced_entries: 0,
  straddling_entries: 0,
  tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0, total: 0 },
  cost: null,
  list_value: null,
  reported_cost: null,
}

export function periodBody({ startingAt, endingAt }: Span) {
  return { starting_at: timestamp(startingAt), ending_at: timestamp(endingAt) }
}

/** The query of a report, which every report repeats. */
export function queryBody({ timeZone, ...period }: Span & { timeZone: string }) {
  return { ...periodBody(period), time_zone: timeZone, currency: 'USD' as const }
}

/** A count as an exact JSON number of any size; as with money, never calculate with it. */
function wholeNumber(count: bigint): number {
  return decimalNumber(count, 0)
}

export function tokensBody({ input, output, cacheRead, cacheWrite, cacheWrite1h }: SumsRow['tokens']) {
  return {
    input: wholeNumber(input),
    output: wholeNumber(output),
    cache_read: wholeNumber(cacheRead),
    cache_write: wholeNumber(cacheWrite),
    cache_write_1h: wholeNumber(cacheWrite1h),
    total: wholeNumber(totalOf({ input, output, cacheRead, cacheWrite, cacheWrite1h })),
  }
}

function totalOf({ input, output, cacheRead, cacheWrite, cacheWrite1h }: SumsRow['tokens']): bigint {
  return input + output + cacheRead + cacheWrite + cacheWrite1h
}

/** Six decimals represent a millionth of the difference, which is less than a cent in most cases. */
const RATIO_DIGITS = 6

export function differenceBody({
  reportedCostNanos: reported,
  listValueNanos: list,
}: {
  reportedCostNanos: bigint | null
  listValueNanos: bigint | null
}) {
  const isKnown = reported !== null && list !== null
  return {
    reported_cost: moneyNumber(reported),
    list_value: moneyNumber(list),
    difference: moneyNumber(isKnown ? reported - list : null),
    ratio: isKnown ? ratioNumber(reported, list) : null,
  }
}

/** To 6 decimals; null if `whole` is 0. */
export function ratioNumber(part: bigint, whole: bigint): number | null {
  if (whole <= 0n) return null
  return decimalNumber(divideHalfEven(part * 10n ** BigInt(RATIO_DIGITS), whole), RATIO_DIGITS)
}
