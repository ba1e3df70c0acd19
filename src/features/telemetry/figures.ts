/** The figures of telemetry's totals, and of the slices that they consist of. Pure. */
import type { TelemetryFigures, TelemetryTotals } from '../../database/schema/records.ts'
import {
  type Counts,
  mapCounts,
  type RequestsAbove,
  type Service,
  totalTokens,
  usageDetails,
  withoutRedundant,
} from '../../shared/usage.ts'
import type { Totals } from '../entries/contract.ts'
import { PARTS, type Part, type PointUsage, type RequestUsage } from './channels/observation.ts'

/** The figures before the first observation, at the moment of which they start and end; `thresholds` is null if single calls are not known. */
export function noFigures(at: number, thresholds: readonly number[] | null): TelemetryFigures {
  return {
    started_at: at,
    ended_at: at,
    parts: PARTS.map(() => 0),
    above: thresholds === null ? null : thresholds.map((threshold) => [threshold, ...PARTS.map(() => 0)]),
    requests: thresholds === null ? null : 0,
    reported_cost: '0',
    cost_incomplete: false,
  }
}

/** What an observation adds. */
export interface Addition {
  usage: RequestUsage | PointUsage
  startedAt: number
  endedAt: number
  /** What the value of a point already contains. */
  before: bigint
}

export function added(figures: TelemetryFigures, { usage, startedAt, endedAt, before }: Addition): TelemetryFigures {
  return {
    started_at: Math.min(figures.started_at, startedAt),
    ended_at: Math.max(figures.ended_at, endedAt),
    ...(usage.kind === 'request' ? withCall(figures, usage) : withPoint(figures, usage, before)),
  }
}

type Figures = Omit<TelemetryFigures, 'started_at' | 'ended_at'>

function withCall(figures: Figures, { parts, costNanos }: RequestUsage): Figures {
  const counts = PARTS.map((part) => parts[part])
  const sum = (to: number[]) => to.map((count, position) => count + counts[position]!)
  const length = totalTokens(parts) - parts.output
  return {
    parts: sum(figures.parts),
    above: figures.above!.map(([threshold, ...long]) => [threshold!, ...(length > threshold! ? sum(long) : long)]),
    requests: figures.requests! + 1,
    reported_cost: (BigInt(figures.reported_cost) + (costNanos ?? 0n)).toString(),
    cost_incomplete: figures.cost_incomplete || costNanos === null,
  }
}

function withPoint(
  { parts, above, requests, reported_cost, cost_incomplete }: Figures,
  { part, value }: PointUsage,
  before: bigint,
): Figures {
  const increase = value - before
  const others = { above, requests, cost_incomplete }
  if (part === 'cost') return { ...others, parts, reported_cost: `${BigInt(reported_cost) + increase}` }
  const position = PARTS.indexOf(part)
  return {
    ...others,
    parts: parts.map((count, at) => (at === position ? count + Number(increase) : count)),
    reported_cost,
  }
}

/**
 * The five disjoint counts. Until all points of a metric have arrived, the cache counts may exceed the input that
 * includes them.
 */
export function countsOf(parts: number[]): Counts {
  const at = (part: Part) => parts[POSITIONS[part]]!
  const counts = mapCounts(at)
  const cache = counts.cacheRead + counts.cacheWrite + counts.cacheWrite1h
  if (at('inputSide') > 0) counts.input += Math.max(at('inputSide') - cache, 0)
  return counts
}

const POSITIONS = Object.fromEntries(PARTS.map((part, at) => [part, at])) as Record<Part, number>

function requestsAboveOf(above: number[][] | null): RequestsAbove[] | null {
  if (above === null) return null
  return withoutRedundant(above.map(([threshold, ...parts]) => ({ threshold: threshold!, counts: countsOf(parts) })))
}

function serviceOf({ service }: TelemetryTotals): Service | undefined {
  return service && { serviceTier: service.service_tier, speed: service.speed, region: service.region }
}

/** The usage of figures of a model: of its totals themselves, or of a slice. */
export function usageOf(figures: TelemetryFigures, totals: TelemetryTotals): Totals {
  // The cost of only some calls is not the cost of all, and no cost at all is not a cost of 0.
  const isPriced = !figures.cost_incomplete && totals.reported_cost !== '0'
  return {
    startedAt: figures.started_at,
    endedAt: figures.ended_at,
    counts: countsOf(figures.parts),
    details: usageDetails({ requestsAbove: requestsAboveOf(figures.above), ...serviceOf(totals) }),
    requests: figures.requests,
    reportedCostNanos: isPriced ? BigInt(figures.reported_cost) : null,
    activeMs: null,
  }
}
