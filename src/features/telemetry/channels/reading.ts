/** Makes observations of signals: what each agent's readers say of a call, and what its resource says of the session. */
import type { LabelMap } from '../../../database/schema/records.ts'
import { addCount } from '../../../lib/counting.ts'
import { hashOf } from '../identity.ts'
import {
  type Attributes,
  type Counts,
  type LogSignal,
  type PointSignal,
  type Signal,
  type SpanSignal,
  shownName,
} from '../signals.ts'
import type { Agent, Call } from './agent.ts'
import { COUNT_LIMIT, costNanosOf, countOf, Fields, momentOf, nameOf, Unusable } from './fields.ts'
import { genAi } from './gen-ai.ts'
import { AGENTS, LOGS, METRICS, SPANS } from './index.ts'
import { labelsOf, PROJECT_NAMES, TICKET_NAMES } from './labels.ts'
import type { Observation, PointUsage, RequestUsage } from './observation.ts'

/** What the channels make of a body's signals. */
export interface Read extends Omit<Counts, 'records'> {
  observations: Observation[]
  /** How many records were rejected, by channel and reason. */
  rejections: Map<string, number>
}

/** What a request brings: what was read of it, and what was not. */
export interface ReadResult extends Read {
  /** Records in the body, of any kind. */
  records: number
}

/** What a resource says of the session, besides who it is. */
interface Placing {
  project: string | null
  ticket: string | null
  labels: LabelMap | null
}

/** Reads the records of a body; undefined for one without usage. */
class Reader {
  readonly #placings = new Map<Attributes, Map<Agent, Placing>>()

  read(signal: Signal): Observation | undefined {
    if (signal.kind === 'log') return this.#log(signal)
    return signal.kind === 'point' ? this.#point(signal) : this.#span(signal)
  }

  #log(log: LogSignal): Observation | undefined {
    const known = LOGS.get(log.eventName)
    if (!known) return undefined
    const fields = new Fields(log.attributes, log.resource)
    const owner = ownerOf(fields)
    // An agent with an event of its own tells each call twice, and less exactly by the general one.
    if (known.agent === genAi && owner?.logs) return undefined
    const call = known.reader(fields, log)
    return call && this.#call(known.agent, log.eventName, 'log', fields, log.scope, call)
  }

  #span(span: SpanSignal): Observation | undefined {
    const fields = new Fields(span.attributes, span.resource)
    const known = SPANS.find(({ reader }) => reader.wants(span.name, (name) => fields.has(name)))
    if (!known) return undefined
    // They always name their sessions: what names none is not their model call.
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
    { session, model, provider, startedAt, endedAt, ...told }: Call,
  ): Observation {
    const hashes = (identities: readonly (readonly unknown[])[] = []) =>
      identities.map((each) => hashOf([source, ...each]))
    const usage: RequestUsage = {
      kind: 'request',
      identity: hashOf([source, ...told.identity]),
      claims: hashes(told.claims),
      repeats: hashes(told.repeats),
      parts: withinLimit(told.parts),
      costNanos: told.costNanos ?? null,
    }
    return {
      channel,
      source,
      session,
      model,
      provider: nameOf(provider) ?? null,
      startedAt,
      endedAt,
      usage,
      ...this.#context(agent, fields, scope),
    }
  }

  #point(point: PointSignal): Observation | undefined {
    const known = METRICS.get(point.metric)
    if (!known) return undefined
    const fields = new Fields(point.attributes, point.resource)
    const { session, model, provider, part } = known.reader(fields)
    const value = part === 'cost' ? costNanosOf(point.value, point.metric) : BigInt(countOf(point.value, point.metric))
    if (value === 0n) return undefined
    const isDelta = point.temporality === 'delta'
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
      startedAt: startedAt ?? endedAt,
      endedAt,
      usage,
      ...this.#context(known.agent, fields, point.scope),
    }
  }

  #context(agent: Agent, fields: Fields, scope: string) {
    const told = ownerOf(fields) ?? agent
    const harness = typeof told.harness === 'string' ? told.harness : told.harness(fields, scope)
    return {
      harness,
      version: told.version === null ? null : (nameOf(fields.text(told.version ?? 'service.version')) ?? null),
      agent: nameOf(fields.text('service.name')) ?? harness,
      email: emailOf(fields),
      ...this.#placing(told, fields.resource),
    }
  }

  /** Once per resource: all records of a process share it. */
  #placing(agent: Agent, resource: Attributes): Placing {
    const known = this.#placings.get(resource)?.get(agent)
    if (known) return known
    const fields = new Fields(resource, resource)
    const placing: Placing = {
      project: nameOf(fields.text(...PROJECT_NAMES)) ?? null,
      ticket: nameOf(fields.text(...TICKET_NAMES)) ?? null,
      labels: labelsOf(resource, agent.own),
    }
    const ofResource = this.#placings.get(resource) ?? new Map<Agent, Placing>()
    this.#placings.set(resource, ofResource.set(agent, placing))
    return placing
  }
}

/** The agent whose service this is. */
function ownerOf(fields: Fields): Agent | undefined {
  const service = fields.text('service.name')
  return service === undefined ? undefined : AGENTS.find(({ services }) => services?.test(service))
}

/** Compared with people's addresses, so whatever is none finds nobody. */
function emailOf(fields: Fields): string | null {
  const email = nameOf(fields.text('user.email'))?.toLowerCase()
  return email?.includes('@') ? email : null
}

/** Each count is within it; what is added up here may not be. */
function withinLimit<Counts extends Record<string, number>>(parts: Counts): Counts {
  if (Object.values(parts).some((count) => count > COUNT_LIMIT)) throw new Unusable(`count exceeds ${COUNT_LIMIT}`)
  return parts
}

function nameOfSignal(signal: Signal): string {
  if (signal.kind === 'log') return signal.eventName
  return signal.kind === 'point' ? signal.metric : signal.name
}

/** What signals say was used, one after the other: nothing of a signal is kept but what counts. */
export class SignalReading {
  readonly #reader = new Reader()
  readonly read: Read = {
    observations: [],
    ignored: new Map(),
    rejected: 0,
    rejectedBecause: null,
    rejections: new Map(),
  }

  /** A record that cannot be counted is rejected, with the reason. */
  take(signal: Signal): void {
    const name = shownName(nameOfSignal(signal))
    try {
      const observation = this.#reader.read(signal)
      if (observation) this.read.observations.push(observation)
      else addCount(this.read.ignored, name)
    } catch (error) {
      if (!(error instanceof Unusable)) throw error
      reject(this.read, `${name}: ${error.message}`)
    }
  }
}

function reject(read: Read, reason: string, records = 1): void {
  read.rejected += records
  read.rejectedBecause ??= reason
  addCount(read.rejections, reason, records)
}

/** What decoding counted, together with what the channels did. */
export function combine(counts: Counts, read: Read): ReadResult {
  const ignored = new Map(counts.ignored)
  for (const [name, count] of read.ignored) addCount(ignored, name, count)
  const combined = { ...read, ignored, rejections: new Map(read.rejections), records: counts.records }
  if (counts.rejected > 0) reject(combined, counts.rejectedBecause ?? 'could not be decoded', counts.rejected)
  return combined
}
