/** How far an amount is above what is usual (docs/design/anomalies.md, "Formula"). Pure. */
import { divideHalfEven, type Nanos } from '../../lib/money.ts'

/**
 * Makes the median absolute deviation of a normal distribution comparable with its standard deviation, and the score from
 * which on a value is an outlier: Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993), as in
 * https://www.itl.nist.gov/div898/handbook/eda/section3/eda35h.htm.
 */
const MAD_FACTOR = 0.6745
const THRESHOLD = 3.5

/**
 * The same for the mean absolute deviation, where the median one is 0 because more than half of the amounts are the same:
 * https://www.ibm.com/docs/en/cognos-analytics/11.1.0?topic=terms-modified-z-score.
 */
const MEAN_FACTOR = 1.253314

/** Where all amounts are the same there is no score. An amount is an outlier then from this multiple of them on. */
const MULTIPLE_OF_CONSTANT = 2n

export interface Excess {
  /** The median of the past. */
  usualNanos: Nanos
  /** In robust standard deviations; null where all amounts of the past are the same. */
  score: number | null
}

/**
 * What an amount exceeds; undefined if it is usual, or not at least `minimum` above the median, or there is no past. Low
 * amounts are usual: they cost nobody money, and silent agents are an event of their own.
 */
export function excessOf(amount: Nanos, past: readonly Nanos[], minimum: Nanos): Excess | undefined {
  if (past.length === 0) return undefined
  const usualNanos = medianOf(past)
  const above = amount - usualNanos
  if (above <= 0n || above < minimum) return undefined
  const score = scoreOf(above, past, usualNanos)
  const isOutlier = score === null ? amount >= MULTIPLE_OF_CONSTANT * usualNanos : score > THRESHOLD
  return isOutlier ? { usualNanos, score } : undefined
}

function scoreOf(above: Nanos, past: readonly Nanos[], median: Nanos): number | null {
  const deviations = past.map((amount) => (amount > median ? amount - median : median - amount))
  const medianDeviation = medianOf(deviations)
  if (medianDeviation > 0n) return (MAD_FACTOR * Number(above)) / Number(medianDeviation)
  const total = deviations.reduce((sum, deviation) => sum + deviation, 0n)
  return total === 0n ? null : (Number(above) * past.length) / (MEAN_FACTOR * Number(total))
}

/** Of an even number of amounts, the mean of the two in the middle. */
function medianOf(amounts: readonly Nanos[]): Nanos {
  // A day of a dozen of the highest costs is beyond 64 bits.
  const sorted = amounts.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle]!
  return divideHalfEven(sorted[middle - 1]! + sorted[middle]!, 2n)
}
