/**
 * Adds observations to the known data of a session, without a database. Data that arrives twice, late or in another
 * order leads to the same totals.
 */

import type { LabelMap, SessionFacts, TelemetryTotals, TimedValue } from '../../database/schema/records.ts'
import type { TelemetrySource } from '../../database/schema/values.ts'
import { REQUEST_THRESHOLDS } from '../../lib/request-thresholds.ts'
import {
  type Counts,
  type RequestsAbove,
  type Service,
  totalTokens,
  usageDetails,
  withoutRedundant,
} from '../../shared/usage.ts'
import type { Report } from '../entries/contract.ts'
import { isReservedName } from '../projects/service.ts'
import { COST_LIMIT_NANOS, COUNT_LIMIT } from './channels/fields.ts'
import { type Observation, PARTS, type Parts, type PointUsage, type RequestUsage } from './channels/observation.ts'

/** How far an agent's clock may be ahead, as for reports. */
const AHEAD_LIMIT_MS = 86_400_000

/** An observation, with the key by which its model is compared, together with its tier, speed and region. */
export interface Keyed {
  observation: Observation
  modelKey: number
}

/** The last point of a cumulative stream. */
export interface Point {
  timeNanos: bigint
  value: bigint
}

export interface ModelTotals {
  source: TelemetrySource
  modelKey: number
  totals: TelemetryTotals
}

/** The known data of a session that is relevant to some observations. */
export interface Known {
  totals: ModelTotals[]
  /** Those of the requested identities that have been counted. */
  seen: Set<string>
  streams: Map<string, Point>
  facts: SessionFacts
  /** Calls up to this moment are no longer known individually, so that repeats can't be detected. */
  forgottenTo: number | null
}

/** The outcome of an observation; `rejected` is the reason. */
export type Outcome = { result: 'counted'; tokens: number } | { result: 'repeated' | 'late' } | { rejected: string }

/** The data to save, and the outcomes of the observations, in their order. */
export interface Accounted {
  changed: Set<ModelTotals>
  totals: ModelTotals[]
  seen: string[]
  streams: Map<string, Point>
  facts: SessionFacts
  /** Whether the fields of entries other than usage have changed. */
  factsChanged: boolean
  outcomes: Outcome[]
}

/** Why an observation can't be counted regardless of its session; undefined if it can. */
export function issueOf({ endedAt, channel }: Observation, now: number): string | undefined {
  if (endedAt === null || endedAt <= now + AHEAD_LIMIT_MS) return undefined
  return `${channel}: timestamp more than one day ahead of the server time`
}

export function account(known: Known, observations: readonly Keyed[], now: number): Accounted {
  const books = new Books(known, now)
  const outcomes = observations.map((each) => books.enter(each))
  return { ...books.kept(), outcomes }
}

class Books {
  readonly #totals: Map<string, ModelTotals>
  readonly #changed = new Set<ModelTotals>()
  readonly #seen: Set<string>
  readonly #added: string[] = []
  readonly #streams: Map<string, Point>
  readonly #moved = new Map<string, Point>()
  readonly #facts: SessionFacts
  #factsChanged = false

  constructor(
    readonly known: Known,
    readonly now: number,
  ) {
    this.#totals = new Map(known.totals.map((each) => [keyOf(each), each]))
    this.#seen = new Set(known.seen)
    this.#streams = new Map(known.streams)
    this.#facts = { ...known.facts }
  }

  kept(): Omit<Accounted, 'outcomes'> {
    return {
      changed: this.#changed,
      totals: [...this.#totals.values()],
      seen: this.#added,
      streams: this.#moved,
      facts: this.#facts,
      factsChanged: this.#factsChanged,
    }
  }

  enter({ observation, modelKey }: Keyed): Outcome {
    const { usage } = observation
    const repeats = usage.kind === 'cumulative' ? this.#isOutdated(usage) : this.#isSeen(usage)
    if (repeats) return { result: 'repeated' }
    if (usage.kind !== 'cumulative' && this.#isForgotten(observation)) return { result: 'late' }

    const entry = this.#totalsFor(observation, modelKey)
    const before = tokensOf(entry.totals)
    const totals = this.#with(entry.totals, observation)
    if (totals.parts.some((count) => count > COUNT_LIMIT) || BigInt(totals.reported_cost) > COST_LIMIT_NANOS) {
      return {
        rejected: `${observation.channel}: session would exceed ${COUNT_LIMIT} tokens or a billion dollars`,
      }
    }
    entry.totals = totals
    this.#totals.set(keyOf(entry), entry)
    this.#changed.add(entry)
    this.#remember(usage)
    this.#updateFacts(observation)
    return { result: 'counted', tokens: tokensOf(totals) - before }
  }

  #isSeen(usage: RequestUsage | PointUsage): boolean {
    if (usage.kind !== 'request') return this.#seen.has(usage.stream)
    return [usage.identity, ...usage.repeats].some((identity) => this.#seen.has(identity))
  }

  /** Of points with the same time the larger one counts, so that their order does not matter. */
  #isOutdated({ stream, timeNanos, value }: PointUsage): boolean {
    const last = this.#streams.get(stream)
    if (!last) return value === 0n
    return timeNanos === last.timeNanos ? value <= last.value : timeNanos < last.timeNanos
  }

  /** A possible repeat of a forgotten call is not counted: counting twice would be worse than not counting. */
  #isForgotten({ endedAt }: Observation): boolean {
    const { forgottenTo } = this.known
    return forgottenTo !== null && (endedAt === null || endedAt <= forgottenTo)
  }

  /** The time of arrival if the agent sends none. Two clocks may disagree, so a call never begins after its end. */
  #timeOf({ startedAt, endedAt }: Observation): { startedAt: number; endedAt: number } {
    const end = endedAt ?? this.now
    return { startedAt: Math.min(startedAt ?? end, end), endedAt: end }
  }

  #totalsFor(observation: Observation, modelKey: number): ModelTotals {
    const { source, model, provider, service } = observation
    const known = this.#totals.get(keyOf({ source, modelKey }))
    if (known) return known
    const countsCalls = source !== 'metric'
    const time = this.#timeOf(observation)
    return {
      source,
      modelKey,
      totals: {
        model,
        provider,
        started_at: time.startedAt,
        ended_at: time.endedAt,
        parts: PARTS.map(() => 0),
        above: countsCalls ? REQUEST_THRESHOLDS.map((threshold) => [threshold, ...PARTS.map(() => 0)]) : null,
        requests: countsCalls ? 0 : null,
        ...(service && {
          service: { service_tier: service.serviceTier, speed: service.speed, region: service.region },
        }),
        reported_cost: '0',
        cost_incomplete: false,
      },
    }
  }

  /** The totals after the observation. */
  #with(totals: TelemetryTotals, observation: Observation): TelemetryTotals {
    const { usage, model, provider } = observation
    const { startedAt, endedAt } = this.#timeOf(observation)
    const updated = {
      ...totals,
      // Of two spellings with the same canonical form, or two providers, always the same one, in any order of arrival.
      model: [totals.model, model].sort()[0]!,
      provider: [totals.provider, provider].filter((each) => each !== null).sort()[0] ?? null,
      started_at: Math.min(totals.started_at, startedAt),
      ended_at: Math.max(totals.ended_at, endedAt),
    }
    return usage.kind === 'request' ? withCall(updated, usage) : withPoint(updated, usage, this.#before(usage))
  }

  /**
   * What the point's value already contains. A sum that is smaller than before has begun again, without saying so by another
   * start (https://opentelemetry.io/docs/specs/otel/metrics/data-model/#resets-and-gaps): all of it is new.
   */
  #before({ kind, stream, value }: PointUsage): bigint {
    const last = kind === 'cumulative' ? (this.#streams.get(stream)?.value ?? 0n) : 0n
    return value < last ? 0n : last
  }

  #remember(usage: RequestUsage | PointUsage): void {
    if (usage.kind === 'cumulative') {
      const point = { timeNanos: usage.timeNanos, value: usage.value }
      this.#streams.set(usage.stream, point)
      this.#moved.set(usage.stream, point)
      return
    }
    const identities = usage.kind === 'request' ? [usage.identity, ...usage.claims] : [usage.stream]
    for (const identity of identities) {
      if (this.#seen.has(identity)) continue
      this.#seen.add(identity)
      this.#added.push(identity)
    }
  }

  #updateFacts({ agent, project, ticket, labels, endedAt }: Observation): void {
    const at = endedAt ?? this.now
    this.#updateFact('agent', agent, at)
    this.#updateFact('project', project, at)
    this.#updateFact('ticket', ticket, at)
    this.#updateFact('labels', labels, at)
  }

  /** The latest value wins; of two values with the same time, always the same one. */
  #updateFact<Name extends keyof SessionFacts>(name: Name, value: string | LabelMap | null, at: number): void {
    if (value === null) return
    const facts = this.#facts as Record<string, TimedValue<unknown> | undefined>
    const known = facts[name]
    const [previous, text] = [JSON.stringify(known?.[1]), JSON.stringify(value)]
    if (known && (at < known[0] || (at === known[0] && text <= previous!))) return
    facts[name] = [at, value]
    if (text !== previous) this.#factsChanged = true
  }
}

function keyOf({ source, modelKey }: Pick<ModelTotals, 'source' | 'modelKey'>): string {
  return `${source} ${modelKey}`
}

function withCall(totals: TelemetryTotals, { parts, costNanos }: RequestUsage): TelemetryTotals {
  const counts = PARTS.map((part) => parts[part])
  const sum = (to: number[]) => to.map((count, position) => count + counts[position]!)
  const length = totalTokens(parts) - parts.output
  return {
    ...totals,
    parts: sum(totals.parts),
    above: totals.above!.map(([threshold, ...long]) => [threshold!, ...(length > threshold! ? sum(long) : long)]),
    requests: totals.requests! + 1,
    reported_cost: (BigInt(totals.reported_cost) + (costNanos ?? 0n)).toString(),
    cost_incomplete: totals.cost_incomplete || costNanos === null,
  }
}

function withPoint(totals: TelemetryTotals, { part, value }: PointUsage, before: bigint): TelemetryTotals {
  const increase = value - before
  if (part === 'cost') return { ...totals, reported_cost: (BigInt(totals.reported_cost) + increase).toString() }
  const position = PARTS.indexOf(part)
  return { ...totals, parts: totals.parts.map((count, at) => (at === position ? count + Number(increase) : count)) }
}

/**
 * The five disjoint counts. Until all points of a metric have arrived, the cache counts may exceed the input that
 * includes them.
 */
function countsOf(parts: number[]): Counts {
  const { inputSide, ...counts } = Object.fromEntries(PARTS.map((part, at) => [part, parts[at]!])) as Parts
  const cache = counts.cacheRead + counts.cacheWrite + counts.cacheWrite1h
  return inputSide === 0 ? counts : { ...counts, input: counts.input + Math.max(inputSide - cache, 0) }
}

function tokensOf({ parts }: TelemetryTotals): number {
  return totalTokens(countsOf(parts))
}

/** Telemetry can't be rejected for a name that reports don't allow, so such a name is ignored. */
function nameOf(fact: TimedValue<string> | undefined): string | undefined {
  return fact && !isReservedName(fact[1]) ? fact[1] : undefined
}

function requestsAboveOf({ above }: TelemetryTotals): RequestsAbove[] | null {
  if (above === null) return null
  return withoutRedundant(above.map(([threshold, ...parts]) => ({ threshold: threshold!, counts: countsOf(parts) })))
}

function serviceOf({ service }: TelemetryTotals): Service | undefined {
  return service && { serviceTier: service.service_tier, speed: service.speed, region: service.region }
}

/** A session's facts and one source's totals of a model, as a report. */
export function reportOf(
  { totals }: ModelTotals,
  { agent, project, ticket, labels }: SessionFacts,
  session: { harness: string; session: string },
): Report {
  const cost = BigInt(totals.reported_cost)
  return {
    harness: session.harness,
    agent: agent?.[1] ?? session.harness,
    model: totals.model,
    provider: totals.provider ?? undefined,
    project: nameOf(project),
    ticket: nameOf(ticket),
    sessionKey: session.session,
    summary: undefined,
    labels: labels?.[1],
    startedAt: totals.started_at,
    endedAt: totals.ended_at,
    counts: countsOf(totals.parts),
    details: usageDetails({ requestsAbove: requestsAboveOf(totals), ...serviceOf(totals) }),
    requests: totals.requests,
    // The cost of only some calls is not the cost of all, and no cost at all is not a cost of 0.
    reportedCostNanos: totals.cost_incomplete || cost === 0n ? null : cost,
    activeMs: null,
  }
}
