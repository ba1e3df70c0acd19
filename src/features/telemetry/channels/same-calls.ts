/**
 * A client and the library that calls it may each send a span of the same call, and a framework one more. The innermost is
 * counted: it comes from the program that received the counts. Of the others it takes what it does not have, such as the
 * session. Pure; the spans of one request, in any order.
 */
import { addCount } from '../../../lib/counts.ts'
import { totalTokens } from '../../../shared/usage.ts'
import { hashOf } from '../identity.ts'
import { IGNORED_LIMIT } from '../signals.ts'
import type { Observation, RequestUsage, SpanLink } from './observation.ts'
import type { ReadResult } from './reader.ts'

interface SpanCall extends Observation {
  usage: RequestUsage
  link: SpanLink
}

/** Of spans with the same key, as many are compared with one. */
const COMPARED_LIMIT = 64

/** Spans of these scopes may be of a call that a client reports in another trace, without anything that names it. */
const FRAMEWORK = /langchain|langsmith|llama.?index|crewai|haystack|dspy|agno|smolagents/

/** The scopes of clients that send spans themselves, besides those of instrumentations. */
const CLIENT_ITSELF = /^com\.anthropic\.sdk\./

/** Instrumentations of clients that do not send the id of the response. */
const WITHOUT_RESPONSE = /^openinference\./

/** The spans of one call end at about the same time; these are compared if they come in different requests. */
const TWIN_MS = 10_000

const isSpanCall = (observation: Observation): observation is SpanCall => observation.link !== undefined

/** Each call once, and after them the spans that repeat them. */
export function withSameCallsJoined(read: ReadResult): ReadResult {
  const spans = read.observations.filter(isSpanCall).sort(byTime)
  if (spans.length === 0) return read
  const inner = new Inner()
  joinChildren(spans, inner)
  if (new Set(spans.map(({ link }) => link.scope)).size > 1) {
    joinAlike(spans, ({ link }) => link.response, inner)
    joinAlike(spans, ({ link, model, usage }) => `${model} ${usage.parts.output} ${link.process}`, inner)
  }

  const joined = new Map(
    Map.groupBy(spans, (span) => inner.of(span))
      .entries()
      .map(([call, all]) => [call, joinedOf(call, all)]),
  )
  const ignored = new Map(read.ignored)
  const [calls, repeats]: [Observation[], Observation[]] = [[], []]
  for (const observation of read.observations) {
    if (!isSpanCall(observation)) {
      calls.push(observation)
      continue
    }
    const call = inner.of(observation)
    const counted = joined.get(call)!
    if (call === observation) {
      calls.push(counted)
      for (const name of observation.link.uncertain) {
        if (ignored.has(name) || ignored.size < 2 * IGNORED_LIMIT) addCount(ignored, name)
      }
    } else repeats.push({ ...counted, channel: observation.channel, usage: observation.usage })
  }
  return { ...read, ignored, observations: [...calls, ...repeats] }
}

/** Who sends spans of a call, the farthest from the vendor first. */
const SIDES = ['framework', 'instrumentation', 'client'] as const
type Side = (typeof SIDES)[number]

function sideOf({ scope }: SpanLink): Side {
  if (CLIENT_ITSELF.test(scope)) return 'client'
  return FRAMEWORK.test(scope) ? 'framework' : 'instrumentation'
}

/** The call that each span reports, as far as it is known. */
class Inner {
  readonly #inner = new Map<SpanCall, SpanCall>()

  of(span: SpanCall): SpanCall {
    let call = span
    for (let next = this.#inner.get(call); next; next = this.#inner.get(call)) {
      const after = this.#inner.get(next)
      if (after) this.#inner.set(call, after)
      call = next
    }
    return call
  }

  /** Whether it is new. */
  join(outer: SpanCall, inner: SpanCall): boolean {
    if (this.#inner.has(outer) || this.of(inner) === outer) return false
    this.#inner.set(outer, inner)
    return true
  }
}

function joinChildren(spans: readonly SpanCall[], inner: Inner): void {
  const nameOf = (traceId: string, spanId: string) => `${traceId} ${spanId}`
  const byName = new Map(spans.map((span) => [nameOf(span.link.traceId, span.link.spanId), span]))
  for (const span of spans) {
    const { traceId, parentSpanId } = span.link
    const outer = parentSpanId === '' ? undefined : byName.get(nameOf(traceId, parentSpanId))
    if (outer) inner.join(outer, span)
  }
}

/** Spans of other scopes with the same key that overlap in time; a call has one of each scope. */
function joinAlike(spans: readonly SpanCall[], keyOf: (span: SpanCall) => string | null, inner: Inner): void {
  for (const [key, alike] of Map.groupBy(spans, keyOf)) {
    if (key === null) continue
    const around = new Map<SpanCall, Set<string>>()
    for (const [position, first] of alike.entries()) {
      for (const second of alike.slice(position + 1, position + 1 + COMPARED_LIMIT)) {
        const [outer, call] = isCloser(first, second) ? [second, first] : [first, second]
        const scopes = around.get(inner.of(call)) ?? new Set([inner.of(call).link.scope])
        if (scopes.has(outer.link.scope) || inner.of(outer) !== outer || !areAlike(first, second)) continue
        if (inner.join(outer, call)) around.set(inner.of(call), scopes.add(outer.link.scope))
        break
      }
    }
  }
}

/** `second` starts last. LangChain loses the input of streamed answers. */
function areAlike(first: SpanCall, second: SpanCall): boolean {
  const [one, other] = [inputOf(first), inputOf(second)]
  return (one === other || one === 0 || other === 0) && (second.startedAt ?? 0) <= (first.endedAt ?? 0)
}

/** Whether the first one has counts closer to those of the vendor than the second, which starts later. */
function isCloser(first: SpanCall, second: SpanCall): boolean {
  const rank = (span: SpanCall) => (inputOf(span) > 0 ? SIDES.length : 0) + SIDES.indexOf(sideOf(span.link))
  return rank(first) > rank(second)
}

const inputOf = ({ usage: { parts } }: Pick<SpanCall, 'usage'>) => totalTokens(parts) - parts.output

/** A call with what the spans of it have together. */
function joinedOf(call: SpanCall, spans: SpanCall[]): Observation {
  const { link, ...counted } = call
  const around = spans.filter((span) => span !== call)
  const naming = link.namesSession ? call : around.find((span) => span.link.namesSession)
  const ended = link.hasOutput ? call : around.find((span) => span.link.hasOutput)
  const priced = spans.find(({ usage }) => usage.costNanos !== null)
  const { usage } = call
  const known: Unlinked = {
    ...counted,
    session: (naming ?? call).session,
    usage: {
      ...usage,
      claims: [...usage.claims, ...around.flatMap((span) => [span.usage.identity, ...span.usage.claims])],
      parts: { ...usage.parts, output: (ended ?? call).usage.parts.output },
      costNanos: usage.costNanos ?? priced?.usage.costNanos ?? null,
    },
  }
  return withTwins(withResponse(known, link), link, new Set(spans.map((span) => sideOf(span.link))))
}

type Unlinked = Omit<SpanCall, 'link'>

/** Anthropic's client and what calls it may have traces and sessions of their own. */
function withResponse(call: Unlinked, { response }: SpanLink): Unlinked {
  if (!response?.startsWith('msg_')) return call
  const identity = hashOf(['response', response, inputOf(call)])
  const { usage } = call
  return {
    ...call,
    usage: { ...usage, claims: [...usage.claims, identity], repeats: [...usage.repeats, identity] },
  }
}

/**
 * The span of another side may come in another request. Without an id in common, it is recognized by the process, the
 * model, the counts and the time.
 */
function withTwins(call: Unlinked, link: SpanLink, known: ReadonlySet<Side>): Observation {
  const { usage, model, endedAt } = call
  const side = sideOf(link)
  const mayHaveTwins =
    side === 'client' || (link.response === null && (side === 'framework' || WITHOUT_RESPONSE.test(link.scope)))
  if (!mayHaveTwins || endedAt === null) return call
  const time = Math.floor(endedAt / TWIN_MS)
  const twin = (of: Side, input: number, at: number) =>
    hashOf(['twin', of, link.process, model, input, usage.parts.output, at])
  // A framework may have lost the input.
  const inputs = side === 'framework' ? [inputOf(call)] : [...new Set([inputOf(call), 0])]
  const others = SIDES.filter((each) => !known.has(each))
  return {
    ...call,
    usage: {
      ...usage,
      claims: [...usage.claims, ...inputs.map((input) => twin(side, input, time))],
      repeats: [
        ...usage.repeats,
        ...others.flatMap((other) =>
          inputs.flatMap((input) => [time - 1, time, time + 1].map((at) => twin(other, input, at))),
        ),
      ],
    },
  }
}

/** Outer spans first. */
function byTime(one: SpanCall, other: SpanCall): number {
  return (
    (one.startedAt ?? 0) - (other.startedAt ?? 0) ||
    (other.endedAt ?? 0) - (one.endedAt ?? 0) ||
    (one.usage.identity < other.usage.identity ? -1 : 1)
  )
}
