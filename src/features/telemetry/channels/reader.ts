/** Converts signals to observations: the calls that agents' readers find, and the session's data in the resource. */
import type { LabelMap } from '../../../database/schema/records.ts'
import { addCount } from '../../../lib/counts.ts'
import { SERVICE_KINDS, type Service } from '../../../shared/usage.ts'
import { hashOf } from '../identity.ts'
import {
  type Attributes,
  type Counts,
  IGNORED_LIMIT,
  type LogSignal,
  type PointSignal,
  type Signal,
  type SpanSignal,
  shownName,
} from '../signals.ts'
import type { Agent, Call } from './agent.ts'
import { COUNT_LIMIT, costNanosOf, countOf, Fields, momentOf, nameOf, Unusable } from './fields.ts'
import { genAi } from './gen-ai.ts'
import { AGENTS, LOGS, METRICS, SPANS, unknownCounts } from './index.ts'
import { labelsOf, PROJECT_NAMES, TICKET_NAMES } from './labels.ts'
import type { Observation, PointUsage, RequestUsage } from './observation.ts'

/** The observations in a body's signals, and the rejected records. */
export interface Read extends Omit<Counts, 'records'> {
  observations: Observation[]
  /** The number of rejected records, by channel and reason. */
  rejections: Map<string, number>
}

/** The observations of a request, and counts of the records that were not used. */
export interface ReadResult extends Read {
  /** Records in the body, of any kind. */
  records: number
}

/** The data of a resource about the session, besides its identity. */
interface ResourceFacts {
  project: string | null
  ticket: string | null
  labels: LabelMap | null
}

/** Reads the records of a body; undefined for one without usage. */
class Reader {
  readonly #facts = new Map<Attributes, Map<Agent, ResourceFacts>>()

  read(signal: Signal): Observation | undefined {
    if (signal.kind === 'log') return this.#log(signal)
    return signal.kind === 'point' ? this.#point(signal) : this.#span(signal)
  }

  #log(log: LogSignal): Observation | undefined {
    const known = LOGS.get(log.eventName)
    if (!known) return undefined
    const fields = new Fields(log.attributes, log.resource)
    const owner = ownerOf(fields)
    // An agent with its own event reports each call twice; the general event is less precise.
    if (known.agent === genAi && owner?.logs) return undefined
    const call = known.reader(fields, log)
    return call && this.#call(known.agent, log.eventName, 'log', fields, log.scope, call)
  }

  #span(span: SpanSignal): Observation | undefined {
    const fields = new Fields(span.attributes, span.resource)
    const known = SPANS.find(({ reader }) => reader.matches(span.name, (name) => fields.has(name)))
    if (!known) return undefined
    // Their model calls always include a session: spans without one are something else.
    if (ownerOf(fields) && fields.text('session.id', 'gen_ai.conversation.id') === undefined) return undefined
    const call = known.reader.read(fields, span)
    const channel = known.agent === genAi ? 'gen_ai spans' : span.name
    return call && this.#call(known.agent, channel, 'span', fields, span.scope, call)
  }

  #call(
    agent: Agent,
    channel: string,
    source: 'log' | 'span',
    fields: Fields,
    scope: string,
    { session, model, provider, service, startedAt, endedAt, link, ...call }: Call,
  ): Observation {
    const known = new Map<readonly unknown[], string>()
    const hashes = (identities: readonly (readonly unknown[])[] = []) =>
      identities.map((each) => {
        const hash = known.get(each) ?? hashOf([source, ...each])
        known.set(each, hash)
        return hash
      })
    const usage: RequestUsage = {
      kind: 'request',
      identity: hashOf([source, ...call.identity]),
      claims: hashes(call.claims),
      repeats: hashes(call.repeats),
      parts: withinLimit(call.parts),
      costNanos: call.costNanos ?? null,
    }
    return {
      channel,
      source,
      session,
      model,
      provider: nameOf(provider) ?? null,
      service: serviceOf(service),
      startedAt,
      endedAt,
      usage,
      ...(link && { link }),
      ...this.#context(agent, fields, scope),
    }
  }

  #point(point: PointSignal): Observation | undefined {
    const known = METRICS.get(point.metric)
    if (!known) return undefined
    const fields = new Fields(point.attributes, point.resource)
    const { session, model, provider, service, part } = known.reader(fields)
    const value = part === 'cost' ? costNanosOf(point.value, point.metric) : BigInt(countOf(point.value, point.metric))
    const isDelta = point.temporality === 'delta'
    // A sum of 0 may have begun again.
    if (value === 0n && isDelta) return undefined
    const usage: PointUsage = {
      kind: point.temporality,
      stream: hashOf(['metric', point.stream, String(isDelta ? point.timeNanos : point.startNanos)]),
      timeNanos: point.timeNanos,
      part,
      value,
    }
    const endedAt = momentOf(point.timeNanos)
    const startedAt = point.startNanos <= point.timeNanos ? momentOf(point.startNanos) : null
    return {
      channel: point.metric,
      source: 'metric',
      session,
      model,
      provider: nameOf(provider) ?? null,
      service: serviceOf(service),
      startedAt: startedAt ?? endedAt,
      endedAt,
      usage,
      ...this.#context(known.agent, fields, point.scope),
    }
  }

  #context(agent: Agent, fields: Fields, scope: string) {
    const owner = ownerOf(fields) ?? agent
    const harness = typeof owner.harness === 'string' ? owner.harness : owner.harness(fields, scope)
    return {
      harness,
      version: owner.version === null ? null : (nameOf(fields.text(owner.version ?? 'service.version')) ?? null),
      agent: nameOf(fields.text('service.name')) ?? harness,
      email: emailOf(fields),
      ...this.#factsOf(owner, fields.resource),
    }
  }

  /** Once per resource, which all records of a process share. */
  #factsOf(agent: Agent, resource: Attributes): ResourceFacts {
    const known = this.#facts.get(resource)?.get(agent)
    if (known) return known
    const fields = new Fields(resource, resource)
    const facts: ResourceFacts = {
      project: nameOf(fields.text(...PROJECT_NAMES)) ?? null,
      ticket: nameOf(fields.text(...TICKET_NAMES)) ?? null,
      labels: labelsOf(resource, agent.own),
    }
    const ofResource = this.#facts.get(resource) ?? new Map<Agent, ResourceFacts>()
    this.#facts.set(resource, ofResource.set(agent, facts))
    return facts
  }
}

/** Null if everything is standard. */
function serviceOf(given: Partial<Service> | undefined): Service | null {
  const service = { serviceTier: null, speed: null, region: null, ...given }
  return SERVICE_KINDS.some((kind) => service[kind] !== null) ? service : null
}

/** The agent with this service name. */
function ownerOf(fields: Fields): Agent | undefined {
  const service = fields.text('service.name')
  return service === undefined ? undefined : AGENTS.find(({ services }) => services?.test(service))
}

/** Only compared with people's addresses, so invalid values match no one. */
function emailOf(fields: Fields): string | null {
  const email = nameOf(fields.text('user.email'))?.toLowerCase()
  return email?.includes('@') ? email : null
}

/** Each count is within the limit; their sum may not be. */
function withinLimit<Counts extends Record<string, number>>(parts: Counts): Counts {
  if (Object.values(parts).some((count) => count > COUNT_LIMIT)) throw new Unusable(`count exceeds ${COUNT_LIMIT}`)
  return parts
}

function nameOfSignal(signal: Signal): string {
  if (signal.kind === 'log') return signal.eventName
  return signal.kind === 'point' ? signal.metric : signal.name
}

/** Converts signals one by one, and keeps only the usage. */
export class SignalReading {
  readonly #reader = new Reader()
  readonly read: Read = {
    observations: [],
    ignored: new Map(),
    rejected: 0,
    rejectionReason: null,
    rejections: new Map(),
  }

  #note(attributes: readonly string[]): void {
    const { ignored } = this.read
    for (const name of attributes.map(shownName)) {
      if (ignored.has(name) || ignored.size < IGNORED_LIMIT) addCount(ignored, name)
    }
  }

  /** Reads a signal. A record that can't be counted is rejected with the reason. */
  take(signal: Signal): void {
    const name = shownName(nameOfSignal(signal))
    try {
      const observation = this.#reader.read(signal)
      if (observation) {
        this.read.observations.push(observation)
        this.#note(unknownCounts(signal.attributes))
      } else addCount(this.read.ignored, name)
    } catch (error) {
      if (!(error instanceof Unusable)) throw error
      reject(this.read, `${name}: ${error.message}`)
    }
  }
}

function reject(read: Read, reason: string, records = 1): void {
  read.rejected += records
  read.rejectionReason ??= reason
  addCount(read.rejections, reason, records)
}

/** Combines the counts of decoding and of the channels. */
export function combine(counts: Counts, read: Read): ReadResult {
  const ignored = new Map(counts.ignored)
  for (const [name, count] of read.ignored) addCount(ignored, name, count)
  const combined = { ...read, ignored, rejections: new Map(read.rejections), records: counts.records }
  if (counts.rejected > 0) reject(combined, counts.rejectionReason ?? 'could not be decoded', counts.rejected)
  return combined
}
