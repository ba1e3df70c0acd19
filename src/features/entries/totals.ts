/**
 * The arithmetic of sessions, without a database (docs/design/concepts.md, "Sessions").
 *
 * A session reports totals so far. Each session and model has a chain of parts that always sum to those totals. Only
 * the last part changes; once it is locked (approved, billed), additional usage becomes a new part.
 */
import type { SessionSource } from '../../database/schema/values.ts'
import {
  COUNT_KINDS,
  type Counts,
  isSameCounts,
  MEDIA_FIELDS,
  type MediaKind,
  mapCounts,
  type Usage as PricedUsage,
  type RequestsAbove,
  requestsFrom,
  totalTokens,
  type UsageDetails,
  usageDetails,
} from '../../shared/usage.ts'

/** The usage of a report, of a part, or of a whole session and model. */
export interface Usage extends PricedUsage {
  reportedCostNanos: bigint | null
  /** Milliseconds that the agent has worked; null if unknown. */
  activeMs: number | null
}

export interface Totals extends Usage {
  startedAt: number
  endedAt: number
}

export interface Part extends Totals {
  locked: boolean
  /** The reported cost, otherwise the list value; null if neither is known. */
  costNanos: bigint | null
}

interface SumOfParts {
  counts: Counts
  details: UsageDetails | null
  requests: number
  costNanos: bigint
  activeMs: number
}

/** The sum of the parts. Unknown requests and costs count as zero: the session's totals take precedence. */
export function sumOfParts(parts: readonly Part[]): SumOfParts {
  return {
    counts: mapCounts((kind) => parts.reduce((sum, part) => sum + part.counts[kind], 0)),
    details: sumOfDetails(parts),
    requests: parts.reduce((sum, part) => sum + (part.requests ?? 0), 0),
    costNanos: parts.reduce((sum, part) => sum + (part.costNanos ?? 0n), 0n),
    activeMs: parts.reduce((sum, part) => sum + (part.activeMs ?? 0), 0),
  }
}

/** The sum of usage of one model and service. What is not known of one of them is not known of the sum. */
export function sumOfUsages(usages: readonly Usage[]): Usage {
  if (usages.length === 1) return usages[0]!
  const sum = (field: 'requests' | 'activeMs') =>
    usages.some((usage) => usage[field] === null) ? null : usages.reduce((all, usage) => all + usage[field]!, 0)
  const costs = usages.map(({ reportedCostNanos }) => reportedCostNanos)
  return {
    counts: mapCounts((kind) => usages.reduce((all, { counts }) => all + counts[kind], 0)),
    details: sumOfDetails(usages),
    requests: sum('requests'),
    reportedCostNanos: costs.includes(null) ? null : costs.reduce<bigint>((all, cost) => all + cost!, 0n),
    activeMs: sum('activeMs'),
  }
}

/** All parts have the same service. A sum of single requests is known if that of each part is. */
function sumOfDetails(parts: readonly Usage[]): UsageDetails | null {
  const known = parts.find(({ details }) => details !== null)?.details
  if (!known) return null
  const lengths = parts.flatMap(({ details }) => details?.requestsAbove?.map(({ threshold }) => threshold) ?? [])
  const requestsAbove = [...new Set(lengths)]
    .sort((one, other) => one - other)
    .flatMap((threshold) => requestsAboveIn(parts, threshold) ?? [])
  return usageDetails({
    ...known,
    requestsAbove: requestsAbove.length > 0 ? requestsAbove : null,
    tools: sumOf(parts.map(({ details }) => details?.tools)),
    media: sumOf(parts.map(({ details }) => details?.media)),
  })
}

/** The sum over the parts; undefined if it is not known of one of them. */
function requestsAboveIn(parts: readonly Usage[], threshold: number): RequestsAbove | undefined {
  const shares = parts.map((part) => requestsFrom(part, threshold + 1))
  if (!shares.every(({ isExact }) => isExact)) return undefined
  return { threshold, counts: mapCounts((kind) => shares.reduce((sum, { counts }) => sum + counts[kind], 0)) }
}

type Numbers = Partial<Record<string, number>>

/** A tool may be called `constructor`. */
function numberAt(numbers: Numbers, name: string): number {
  return Object.hasOwn(numbers, name) ? numbers[name]! : 0
}

function sumOf<Sums extends Numbers>(each: (Sums | null | undefined)[]): Sums | null {
  const sums: Numbers = {}
  for (const numbers of each) {
    for (const name in numbers) sums[name] = numberAt(sums, name) + numbers[name]!
  }
  return Object.keys(sums).length > 0 ? (sums as Sums) : null
}

/**
 * Of two reports the one with the later `ended_at` wins, then the one with more tokens. A stale one changes nothing.
 */
export function isStale(
  reported: Pick<Totals, 'endedAt' | 'counts'>,
  known: Pick<Totals, 'endedAt' | 'counts'>,
): boolean {
  if (reported.endedAt !== known.endedAt) return reported.endedAt < known.endedAt
  return totalTokens(reported.counts) < totalTokens(known.counts)
}

/** The change that makes a chain sum to the totals. */
export type ChainStep =
  | { kind: 'unchanged' }
  /** The last part, or the first one of an empty chain, is set to this usage. */
  | { kind: 'set'; usage: Totals }
  /** The last part is locked: a new part starts where it ended. */
  | { kind: 'append'; usage: Totals }
  /** A count or the cost would become negative. */
  | { kind: 'shrunk'; metric: string }

/**
 * The step that makes a chain sum to `totals`. A part's cost is the totals' reported cost minus the costs of the
 * previous parts; without a reported cost it is the list value of its own counts.
 */
export function nextStep(parts: Part[], totals: Totals): ChainStep {
  const last = parts.at(-1)
  if (!last) return { kind: 'set', usage: totals }
  const rest = difference(totals, last.locked ? parts : parts.slice(0, -1))
  const negative = firstNegative(rest)
  if (negative !== undefined) return { kind: 'shrunk', metric: negative }
  const usage = { ...rest, activeMs: rest.activeMs && Math.max(0, rest.activeMs) }
  if (last.locked) {
    if (isNothing(usage)) return { kind: 'unchanged' }
    return {
      kind: 'append',
      usage: { ...usage, startedAt: last.endedAt, endedAt: Math.max(totals.endedAt, last.endedAt) },
    }
  }
  // A resumed session may report the time of its resumption as its start, but its real start does not change.
  const startedAt = parts.length === 1 ? Math.min(totals.startedAt, last.startedAt) : last.startedAt
  return { kind: 'set', usage: { ...usage, startedAt, endedAt: Math.max(totals.endedAt, startedAt) } }
}

/** What the totals have more than the parts; negative where they have less. */
export function difference(totals: Totals, earlier: readonly Part[]): Totals {
  if (earlier.length === 0) return totals
  const { requests, reportedCostNanos, activeMs } = totals
  const before = sumOfParts(earlier)
  const counts = mapCounts((kind) => totals.counts[kind] - before.counts[kind])
  return {
    ...totals,
    counts,
    details: totals.details && detailsDifference(totals.details, earlier, before),
    requests: requests === null ? null : requests - before.requests,
    reportedCostNanos: reportedCostNanos === null ? null : reportedCostNanos - before.costNanos,
    activeMs: activeMs === null ? null : activeMs - before.activeMs,
  }
}

/** Sums of single requests that are not known of an earlier part are not known of the rest either. */
function detailsDifference(totals: UsageDetails, earlier: readonly Part[], before: SumOfParts): UsageDetails | null {
  const requestsAbove = totals.requestsAbove?.flatMap(({ threshold, counts }) => {
    const known = requestsAboveIn(earlier, threshold)
    return known ? [{ threshold, counts: mapCounts((kind) => counts[kind] - known.counts[kind]) }] : []
  })
  return usageDetails({
    ...totals,
    requestsAbove: requestsAbove?.length ? requestsAbove : null,
    tools: numbersDifference(totals.tools, before.details?.tools),
    media: numbersDifference(totals.media, before.details?.media),
  })
}

/** Null if nothing is left, as where nothing was reported. */
function numbersDifference<Of extends Numbers>(totals: Of | null, before: Of | null | undefined): Of | null {
  if (!totals || !before) return totals
  const names = new Set([...Object.keys(totals), ...Object.keys(before)])
  const rest = [...names]
    .map((name) => [name, numberAt(totals, name) - numberAt(before, name)] as const)
    .filter(([, count]) => count !== 0)
  return rest.length > 0 ? (Object.fromEntries(rest) as Of) : null
}

/** The name of a count that is negative; undefined if none is. Active time is never a reason to refuse a report. */
export function firstNegative({ counts, details, requests, reportedCostNanos }: Totals): string | undefined {
  for (const kind of COUNT_KINDS) if (counts[kind] < 0) return kind
  if (details) {
    for (const { threshold, counts: long } of details.requestsAbove ?? []) {
      for (const kind of COUNT_KINDS) if (long[kind] < 0) return `${kind} in requests above ${threshold} tokens`
    }
    for (const [name, uses] of Object.entries(details.tools ?? {})) if (uses < 0) return `uses of ${name}`
    for (const [kind, tokens] of Object.entries(details.media ?? {})) {
      if (tokens < 0) return MEDIA_FIELDS[kind as MediaKind]
    }
  }
  if (requests !== null && requests < 0) return 'requests'
  if (reportedCostNanos !== null && reportedCostNanos < 0n) return 'cost'
  return undefined
}

/** Whether neither tokens nor money were added. More requests alone create no part: they cost nothing. */
export function isNothing({ counts, details, reportedCostNanos }: Usage): boolean {
  if (totalTokens(counts) !== 0 || reportedCostNanos) return false
  return !Object.values(details?.tools ?? {}).some((uses) => uses > 0)
}

/**
 * The precedence of sources: of two with equally many output tokens, the first one here supplies the session, and of two
 * that say different things about it, the first one is believed.
 */
export const SOURCE_ORDER: readonly SessionSource[] = ['report', 'log', 'span', 'metric']

/** The one source that supplies all models of a session: the one with the most output tokens. */
export function supplyingSource(outputs: Map<SessionSource, number>): SessionSource {
  const ranked = [...outputs].sort(
    ([a, outputOfA], [b, outputOfB]) => outputOfB - outputOfA || SOURCE_ORDER.indexOf(a) - SOURCE_ORDER.indexOf(b),
  )
  return ranked[0]![0]
}

/**
 * Fills in what totals lack from other totals of exactly the same usage, the first ones first. A cost or a number of
 * requests belongs to the tokens that it was reported with: next to other counts it would be wrong.
 */
export function completeTotals(totals: Totals, others: readonly Totals[]): Totals {
  const { requests, reportedCostNanos } = totals
  const alike = others.filter(({ counts }) => isSameUsage(counts, totals.counts))
  if (alike.length === 0) return totals
  return {
    ...totals,
    details: completeDetails(totals, alike),
    requests: requests ?? alike.find((other) => other.requests !== null)?.requests ?? null,
    reportedCostNanos:
      reportedCostNanos ?? alike.find((other) => other.reportedCostNanos !== null)?.reportedCostNanos ?? null,
  }
}

/** All are of one chain, so of the same service. Sums of single requests belong to exactly their counts. */
function completeDetails({ counts, details }: Totals, alike: readonly Totals[]): UsageDetails | null {
  const known = alike.filter((other) => other.details !== null)
  if (known.length === 0) return details
  const findIn = <Field extends keyof UsageDetails>(others: readonly Totals[], field: Field) =>
    details?.[field] ?? others.find((other) => other.details![field] !== null)?.details?.[field] ?? null
  const exact = known.filter((other) => isSameCounts(other.counts, counts))
  return usageDetails({
    ...(details ?? known[0]!.details),
    requestsAbove: findIn(exact, 'requestsAbove'),
    tools: findIn(known, 'tools'),
    media: findIn(known, 'media'),
  })
}

/** Not every source knows for how long the cache was written, so both durations count together. */
function isSameUsage(a: Counts, b: Counts): boolean {
  return (
    a.input === b.input &&
    a.output === b.output &&
    a.cacheRead === b.cacheRead &&
    a.cacheWrite + a.cacheWrite1h === b.cacheWrite + b.cacheWrite1h
  )
}
