/**
 * Dividing whole numbers and usage by weights, so that the parts always sum to what was divided. Pure.
 *
 * Numbers are divided by the method of D'Hondt (Jefferson): each part gets its share rounded down, and what is left goes
 * one by one to the part with the largest `weight / (share + 1)`. Unlike with the method of the largest remainder, no part
 * shrinks when the number grows, so that a session that goes on never takes usage away from a part, and a count that is
 * contained in another, such as that of long requests, stays so in each part.
 * See Balinski and Young, Fair Representation (1982), on house monotonicity.
 */

import { mapCounts, usageDetails } from '../../../shared/usage.ts'
import type { Usage } from '../totals.ts'

/** Divides a number that is not negative by positive weights. On a tie, the first part gets more. */
export function divideNumber(whole: bigint, weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  const shares = weights.map((weight) => (whole * weight) / total)
  let left = whole - shares.reduce((sum, share) => sum + share, 0n)
  if (left === 0n) return shares
  const isBefore = (one: number, other: number) => {
    const [ofOne, ofOther] = [weights[one]! * (shares[other]! + 1n), weights[other]! * (shares[one]! + 1n)]
    return ofOne > ofOther || (ofOne === ofOther && one < other)
  }
  // A heap whose first part is the next to get one: a session has hundreds of parts, and as many may be left.
  const heap = weights.map((_, part) => part)
  for (let at = Math.floor(heap.length / 2) - 1; at >= 0; at -= 1) sink(heap, at, isBefore)
  for (; left > 0n; left -= 1n) {
    shares[heap[0]!]! += 1n
    sink(heap, 0, isBefore)
  }
  return shares
}

function sink(heap: number[], from: number, isBefore: (one: number, other: number) => boolean): void {
  for (let at = from; ; ) {
    const left = 2 * at + 1
    if (left >= heap.length) return
    const right = left + 1
    const child = right < heap.length && isBefore(heap[right]!, heap[left]!) ? right : left
    if (!isBefore(heap[child]!, heap[at]!)) return
    ;[heap[at], heap[child]] = [heap[child]!, heap[at]!]
    at = child
  }
}

/** The divided figures of an entry. */
export interface DivisibleFigures extends Usage {
  listValue: bigint | null
}

/** Divides each count, the model calls and both costs. What is not known stays unknown in each part. */
export function divideFigures(whole: DivisibleFigures, weights: readonly bigint[]): DivisibleFigures[] {
  const counts = mapAll(whole.counts, (count) => divideCount(count, weights))
  const requests = whole.requests === null ? null : divideCount(whole.requests, weights)
  const active = whole.activeMs === null ? null : divideCount(whole.activeMs, weights)
  const reported = whole.reportedCostNanos === null ? null : divideNumber(whole.reportedCostNanos, weights)
  const values = whole.listValue === null ? null : divideNumber(whole.listValue, weights)
  const above = whole.details?.requestsAbove?.map(({ threshold, counts: long }) => ({
    threshold,
    counts: mapAll(long, (count) => divideCount(count, weights)),
  }))
  const tools = whole.details?.tools && mapAll(whole.details.tools, (uses) => divideCount(uses, weights))
  const media = whole.details?.media && mapAll(whole.details.media, (tokens) => divideCount(tokens!, weights))
  return weights.map((_, part) => {
    const at = <Name extends string>(shares: Record<Name, number[]>) => mapAll(shares, (each) => each[part]!)
    return {
      counts: mapCounts((kind) => counts[kind][part]!),
      details:
        whole.details &&
        usageDetails({
          ...whole.details,
          requestsAbove: above?.map(({ threshold, counts: long }) => ({ threshold, counts: at(long) })) ?? null,
          tools: tools ? at(tools) : null,
          media: media ? at(media) : null,
        }),
      requests: requests && requests[part]!,
      reportedCostNanos: reported && reported[part]!,
      activeMs: active && active[part]!,
      listValue: values && values[part]!,
    }
  })
}

function divideCount(count: number, weights: readonly bigint[]): number[] {
  return divideNumber(BigInt(count), weights).map(Number)
}

function mapAll<Name extends string, From, To>(record: Partial<Record<Name, From>>, map: (value: From) => To) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value as From)])) as Record<
    Name,
    To
  >
}
