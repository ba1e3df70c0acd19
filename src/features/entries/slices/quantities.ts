/**
 * Usage as quantities that do not overlap, so that each can be moved by itself: tokens of a kind between two thresholds
 * of the length of requests, tokens of audio and images, uses of tools, requests, active time and the reported cost.
 * Pure.
 */
import {
  COUNT_KINDS,
  type Counts,
  MEDIA_KINDS,
  mapCounts,
  requestsFrom,
  type UsageDetails,
  usageDetails,
} from '../../../shared/usage.ts'
import type { Usage } from '../totals.ts'

/** By name, such as `input 0`, `input 200000`, `tool web_search`. Never negative, except as differences. */
export type Quantities = Map<string, bigint>

export const TOOL = 'tool '
const MEDIA = 'media '
export const REQUESTS = 'requests'
export const COST = 'cost'
export const ACTIVE = 'active'

/** The thresholds at which all of these usages are known, ascending. */
export function commonThresholds(usages: readonly Usage[]): number[] {
  const found = new Set(
    usages.flatMap(({ details }) => details?.requestsAbove?.map(({ threshold }) => threshold) ?? []),
  )
  return [...found]
    .filter((threshold) => usages.every((usage) => requestsFrom(usage, threshold + 1).isExact))
    .sort((one, other) => one - other)
}

/** What is not known is absent. */
export function quantitiesOf(usage: Usage, thresholds: readonly number[]): Quantities {
  const { counts, details, requests, reportedCostNanos, activeMs } = usage
  const quantities: Quantities = new Map()
  let [from, within] = [0, counts]
  for (const threshold of [...thresholds, Number.POSITIVE_INFINITY]) {
    const above = threshold === Number.POSITIVE_INFINITY ? NOTHING : requestsFrom(usage, threshold + 1).counts
    for (const kind of COUNT_KINDS) quantities.set(`${kind} ${from}`, BigInt(within[kind] - above[kind]))
    ;[from, within] = [threshold, above]
  }
  for (const [tool, uses] of Object.entries(details?.tools ?? {})) quantities.set(TOOL + tool, BigInt(uses))
  for (const [kind, tokens] of Object.entries(details?.media ?? {})) quantities.set(MEDIA + kind, BigInt(tokens!))
  if (requests !== null) quantities.set(REQUESTS, BigInt(requests))
  if (reportedCostNanos !== null) quantities.set(COST, reportedCostNanos)
  if (activeMs !== null) quantities.set(ACTIVE, BigInt(activeMs))
  return quantities
}

const NOTHING = mapCounts(() => 0)

/** The usage with these quantities; its service is that of `details`. */
export function usageFrom(quantities: Quantities, thresholds: readonly number[], details: UsageDetails | null): Usage {
  const numberAt = (name: string) => Number(quantities.get(name) ?? 0n)
  const knownNumber = (name: string) => (quantities.has(name) ? numberAt(name) : null)
  const bounds = [0, ...thresholds]
  const sumFrom = (first: number) =>
    mapCounts((kind) => bounds.slice(first).reduce((sum, bound) => sum + numberAt(`${kind} ${bound}`), 0))
  const named = (prefix: string) => {
    const found = [...quantities].filter(([name, count]) => name.startsWith(prefix) && count !== 0n)
    return found.length === 0
      ? null
      : Object.fromEntries(found.map(([name, count]) => [name.slice(prefix.length), Number(count)]))
  }
  const counts = sumFrom(0)
  const { serviceTier = null, speed = null, region = null } = details ?? {}
  const requestsAbove = thresholds.map((threshold, at) => ({ threshold, counts: sumFrom(at + 1) }))
  return {
    counts,
    details: usageDetails({
      ...{ serviceTier, speed, region, tools: named(TOOL), media: mediaWithin(counts, numberAt) },
      requestsAbove: requestsAbove.length > 0 ? requestsAbove : null,
    }),
    requests: knownNumber(REQUESTS),
    reportedCostNanos: quantities.get(COST) ?? null,
    activeMs: knownNumber(ACTIVE),
  }
}

/** Audio and images are shares of the input and the output, which may have been moved without them. */
function mediaWithin(counts: Counts, numberAt: (name: string) => number): UsageDetails['media'] {
  const room = { input: counts.input, output: counts.output }
  const media: Record<string, number> = {}
  for (const kind of MEDIA_KINDS) {
    const side = kind.startsWith('input') ? 'input' : 'output'
    const tokens = Math.min(numberAt(MEDIA + kind), room[side])
    room[side] -= tokens
    if (tokens > 0) media[kind] = tokens
  }
  return Object.keys(media).length > 0 ? media : null
}
