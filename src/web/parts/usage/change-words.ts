/** The change of a metric since the previous period, as text. */
import { count, percentChange } from '../../format/counts.ts'

/** From this ratio on, a multiple is easier to read than a percentage. */
const MANIFOLD = 10

/** Smaller changes would read as 0.0%. */
const NOTHING = 0.0005

/** From this increase on, more cost calls for attention; smaller ones are usual. Less is never marked as good. */
const NOTABLE = 0.1

interface ChangeInWords {
  /** `+12.5%` or `12×`; undefined if there is no change to compare. */
  change?: string
  isNotable?: boolean
  comparison: string
}

/** Null values are unknown, such as the cost of unpriced entries. */
export function changeInWords(now: number | null, before: number | null): ChangeInWords {
  if (now === null) return { comparison: 'unknown' }
  if (before === null || before === 0) return { comparison: now === 0 ? 'no change' : 'none in the previous period' }
  const ratio = now / before
  const change = ratio - 1
  if (Math.abs(change) < NOTHING) return { comparison: 'no change' }
  if (ratio >= MANIFOLD)
    return { change: `${count(Math.round(ratio))}×`, isNotable: true, comparison: 'the previous period' }
  return { change: percentChange(change), isNotable: change >= NOTABLE, comparison: 'vs. previous period' }
}
