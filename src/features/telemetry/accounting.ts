/**
 * Adds observations to the known data of a session, without a database. Data that arrives twice, late or in another
 * order leads to the same totals.
 */

import type { LabelMap, SessionFacts, TelemetryTotals, TimedValue } from '../../database/schema/records.ts'
import type { TelemetrySource } from '../../database/schema/values.ts'
import { REQUEST_THRESHOLDS } from '../../lib/request-thresholds.ts'
import { totalTokens } from '../../shared/usage.ts'
import { MERGED_SLICES_LIMIT, otherLabelsOf, type Report } from '../entries/contract.ts'
import { COST_LIMIT_NANOS, COUNT_LIMIT } from './channels/fields.ts'
import type { Observation, PointUsage, RequestUsage } from './channels/observation.ts'
import { added, countsOf, noFigures, usageOf } from './figures.ts'
import { allowedName, cellsOf, sliceOf, slicesAfter, withoutOutdatedSlices } from './slices.ts'

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
  /** Those of the requested identities that have been counted; those of spans in any session. */
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
  /** Identities that count in every session. */
  claimed: string[]
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

/** `timeZone` is that of the session's days. */
export function account(known: Known, observations: readonly Keyed[], now: number, timeZone: string): Accounted {
  const books = new Books(known, now, timeZone)
  const outcomes = observations.map((each) => books.enter(each))
  return { ...books.kept(), outcomes }
}

class Books {
  readonly #totals: Map<string, ModelTotals>
  readonly #changed = new Set<ModelTotals>()
  readonly #seen: Set<string>
  readonly #added: string[] = []
  readonly #claimed: string[] = []
  readonly #streams: Map<string, Point>
  readonly #moved = new Map<string, Point>()
  readonly #facts: SessionFacts
  #factsChanged = false

  constructor(
    readonly known: Known,
    readonly now: number,
    readonly timeZone: string,
  ) {
    this.#totals = new Map(
      known.totals.map((each) => [keyOf(each), { ...each, totals: withoutOutdatedSlices(each.totals) }]),
    )
    this.#seen = new Set(known.seen)
    this.#streams = new Map(known.streams)
    this.#facts = { ...known.facts }
  }

  kept(): Omit<Accounted, 'outcomes'> {
    return {
      changed: this.#changed,
      totals: [...this.#totals.values()],
      seen: this.#added,
      claimed: this.#claimed,
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
    const { startedAt } = this.#timeOf(observation)
    return {
      source,
      modelKey,
      totals: {
        model,
        provider,
        ...noFigures(startedAt, source === 'metric' ? null : REQUEST_THRESHOLDS),
        ...(service && {
          service: { service_tier: service.serviceTier, speed: service.speed, region: service.region },
        }),
        slices: [],
      },
    }
  }

  /** The totals after the observation. */
  #with(totals: TelemetryTotals, observation: Observation): TelemetryTotals {
    const { usage, model, provider } = observation
    const time = this.#timeOf(observation)
    const addition = { usage, ...time, before: usage.kind === 'request' ? 0n : this.#before(usage) }
    const where = totals.slices && sliceOf(observation, time.startedAt, this.timeZone)
    return {
      ...totals,
      ...added(totals, addition),
      // Of two spellings with the same canonical form, or two providers, always the same one, in any order of arrival.
      model: [totals.model, model].sort()[0]!,
      provider: [totals.provider, provider].filter((each) => each !== null).sort()[0] ?? null,
      slices: slicesAfter(totals, { where, addition, hasRoom: () => this.#hasRoom() }),
    }
  }

  #hasRoom(): boolean {
    return (
      this.#totals.values().reduce((sum, { totals }) => sum + (totals.slices?.length ?? 0), 0) < MERGED_SLICES_LIMIT
    )
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
    const [identity, claims] = usage.kind === 'request' ? [usage.identity, usage.claims] : [usage.stream, []]
    this.#add(identity, this.#added)
    for (const claim of claims) this.#add(claim, this.#claimed)
  }

  #add(identity: string, to: string[]): void {
    if (this.#seen.has(identity)) return
    this.#seen.add(identity)
    to.push(identity)
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

function tokensOf({ parts }: TelemetryTotals): number {
  return totalTokens(countsOf(parts))
}

/** A session's facts and one source's totals of a model, as a report. */
export function reportOf(
  { totals }: ModelTotals,
  { agent, project, ticket, labels }: SessionFacts,
  { harness, session }: { harness: string; session: string },
): Report {
  const usage = usageOf(totals, totals)
  const place = {
    project: allowedName(project?.[1]),
    ticket: allowedName(ticket?.[1]),
    labels: totals.slices ? otherLabelsOf(labels?.[1]) : labels?.[1],
  }
  return {
    ...{ harness, agent: agent?.[1] ?? harness, model: totals.model, provider: totals.provider ?? undefined },
    ...{ sessionKey: session, summary: undefined, funding: undefined, ...place },
    ...usage,
    cells: cellsOf(totals, place, usage),
  }
}
