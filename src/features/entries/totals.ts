/**
 * The arithmetic of sessions, without a database (docs/design/concepts.md, "Sessions").
 *
 * A session reports totals so far. Each session and model has a chain of parts that always sum to those totals. Only
 * the last part changes; once it is locked (approved, billed), additional usage becomes a new part.
 */
import type { SessionSource } from '../../database/schema/values.ts'

export const COUNT_KINDS = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const
export type CountKind = (typeof COUNT_KINDS)[number]
export type Counts = Record<CountKind, number>

/** The usage of a report, of a part, or of a whole session and model. */
export interface Usage {
  counts: Counts
  /** The share from single requests above 200,000 input-side tokens; null if unknown. */
  over200k: Counts | null
  /** Model calls; null if unknown. */
  requests: number | null
  reportedCostNanos: bigint | null
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

export const ZERO_COUNTS: Counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }

export function mapCounts(map: (kind: CountKind) => number): Counts {
  return {
    input: map('input'),
    output: map('output'),
    cacheRead: map('cacheRead'),
    cacheWrite: map('cacheWrite'),
    cacheWrite1h: map('cacheWrite1h'),
  }
}

export function totalTokens(counts: Counts): number {
  return counts.input + counts.output + counts.cacheRead + counts.cacheWrite + counts.cacheWrite1h
}

/** The sum of the parts. Unknown requests and costs count as zero: the session's totals take precedence. */
export function sumOfParts(parts: Part[]): { counts: Counts; over200k: Counts; requests: number; costNanos: bigint } {
  return {
    counts: mapCounts((kind) => parts.reduce((sum, part) => sum + part.counts[kind], 0)),
    over200k: mapCounts((kind) => parts.reduce((sum, part) => sum + (part.over200k?.[kind] ?? 0), 0)),
    requests: parts.reduce((sum, part) => sum + (part.requests ?? 0), 0),
    costNanos: parts.reduce((sum, part) => sum + (part.costNanos ?? 0n), 0n),
  }
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
  const before = sumOfParts(last.locked ? parts : parts.slice(0, -1))
  const usage = difference(totals, before)
  const negative = firstNegative(usage)
  if (negative !== undefined) return { kind: 'shrunk', metric: negative }
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

function difference(totals: Totals, before: ReturnType<typeof sumOfParts>): Totals {
  const { over200k, requests, reportedCostNanos } = totals
  const counts = mapCounts((kind) => totals.counts[kind] - before.counts[kind])
  return {
    ...totals,
    counts,
    // Earlier parts may have no known share; they are already valued, and are not valued again here.
    over200k: over200k && mapCounts((kind) => Math.min(over200k[kind] - before.over200k[kind], counts[kind])),
    requests: requests === null ? null : requests - before.requests,
    reportedCostNanos: reportedCostNanos === null ? null : reportedCostNanos - before.costNanos,
  }
}

function firstNegative({ counts, over200k, requests, reportedCostNanos }: Totals): string | undefined {
  for (const kind of COUNT_KINDS) {
    if (counts[kind] < 0) return kind
    if (over200k && over200k[kind] < 0) return `${kind} over 200k`
  }
  if (requests !== null && requests < 0) return 'requests'
  if (reportedCostNanos !== null && reportedCostNanos < 0n) return 'cost'
  return undefined
}

/** Whether neither tokens nor money were added. More requests alone create no part: they cost nothing. */
function isNothing({ counts, reportedCostNanos }: Totals): boolean {
  return totalTokens(counts) === 0 && !reportedCostNanos
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
  const { over200k, requests, reportedCostNanos } = totals
  if (over200k !== null && requests !== null && reportedCostNanos !== null) return totals
  const alike = others.filter(({ counts }) => isSameUsage(counts, totals.counts))
  if (alike.length === 0) return totals
  return {
    ...totals,
    over200k:
      over200k ??
      alike.find((other) => other.over200k !== null && isSameCounts(other.counts, totals.counts))?.over200k ??
      null,
    requests: requests ?? alike.find((other) => other.requests !== null)?.requests ?? null,
    reportedCostNanos:
      reportedCostNanos ?? alike.find((other) => other.reportedCostNanos !== null)?.reportedCostNanos ?? null,
  }
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

function isSameCounts(a: Counts, b: Counts): boolean {
  return COUNT_KINDS.every((kind) => a[kind] === b[kind])
}
