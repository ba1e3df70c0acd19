/**
 * When a reported cost and the list value are so far apart that one of them is probably wrong: a report in cents, a
 * price of another model. Such an entry is flagged, never refused, because the reported cost may be right. A cost without
 * tokens, such as that of a subscription's extra usage, has nothing to be compared with. Pure.
 */
import type { Counts } from '../../shared/usage.ts'
import { totalTokens } from '../../shared/usage.ts'

/** Discounts, fees and tiers stay well below this factor. */
export const MISMATCH_FACTOR = 10n

/** One dollar: the costs of small sessions are often rounded, and nobody looks into cents. */
export const MISMATCH_NANOS = 1_000_000_000n

interface Compared extends Counts {
  reportedCost: bigint | null
  listValue: bigint | null
}

/** The same as the condition of the filter `cost_mismatch`. False if one of the amounts is unknown. */
export function isCostMismatch(compared: Compared): boolean {
  const { reportedCost, listValue } = compared
  if (reportedCost === null || listValue === null || totalTokens(compared) === 0) return false
  const [more, less] = reportedCost > listValue ? [reportedCost, listValue] : [listValue, reportedCost]
  return more - less > MISMATCH_NANOS && more > less * MISMATCH_FACTOR
}
