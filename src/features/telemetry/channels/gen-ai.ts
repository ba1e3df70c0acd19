/**
 * OpenTelemetry's conventions for generative AI, which opencode, the AI SDK and many libraries follow: an event or a
 * span per model call. https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
import type { SpanSignal } from '../signals.ts'
import type { Agent, Call } from './agent.ts'
import { withoutCache } from './counts.ts'
import { type Fields, momentOf, nameOf, Unusable } from './fields.ts'
import type { Parts } from './observation.ts'

const EVENT = 'gen_ai.client.inference.operation.details'

/** The convention's current name first, then those of its earlier versions and of the AI SDK. */
const INPUT = ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens']
const OUTPUT = ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens']
const CACHE_READ = [
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_read_input_tokens',
  'ai.usage.inputTokenDetails.cacheReadTokens',
  'ai.usage.cachedInputTokens',
]
const CACHE_WRITE = [
  'gen_ai.usage.cache_write.input_tokens',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.cache_creation_input_tokens',
  'ai.usage.inputTokenDetails.cacheWriteTokens',
]
/** Parts and sums of the other counts. */
const CONTAINED = ['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens', 'gen_ai.usage.total_tokens']
const SESSION = ['session.id', 'gen_ai.conversation.id', 'ai.telemetry.metadata.sessionId']
const MODEL = ['gen_ai.response.model', 'gen_ai.request.model']
const PROVIDER = ['gen_ai.provider.name', 'gen_ai.system']

/** What was asked for may not be what was used and charged. */
const SERVICE_TIER = ['openai.response.service_tier', 'gen_ai.openai.response.service_tier']

/** Operations that are model calls. Agents, workflows and tools have enclosing spans that may repeat their counts. */
const MODEL_CALLS = ['chat', 'generate_content', 'text_completion', 'embeddings']

/** Spans without an operation whose name contains one: those of the AI SDK and of older instrumentations. */
const NAMED_AS_MODEL_CALL = /\.(?:doStream|doGenerate|doEmbed)$|^(?:[\w-]+\.)?(?:chat|completion|embeddings)(?:\s|$)/

/** Provider names of the convention and the AI SDK that differ from those in price tables. */
const PROVIDERS: Record<string, string> = {
  'amazon-bedrock': 'aws',
  'aws.bedrock': 'aws',
  'azure.ai.inference': 'azure',
  'azure.ai.openai': 'azure',
  'azure-openai': 'azure',
  'gcp.gemini': 'google',
  'gcp.gen_ai': 'google',
  'gcp.vertex_ai': 'google',
  'google.generative-ai': 'google',
  'google.vertex': 'google',
  mistral_ai: 'mistral',
  vertex_ai: 'google',
  x_ai: 'x-ai',
  xai: 'x-ai',
}

/** The AI SDK appends the kind of interface to the provider. */
const INTERFACE = /\.(?:chat|completion|messages|responses|embedding)$/

function providerOf(fields: Fields): string | undefined {
  const given = nameOf(fields.text(...PROVIDER))?.replace(INTERFACE, '')
  return given && (PROVIDERS[given] ?? given)
}

function partsOf(fields: Fields): Parts | undefined {
  return withoutCache({
    inputSide: fields.count(...INPUT),
    output: fields.count(...OUTPUT),
    cacheRead: fields.count(...CACHE_READ),
    cacheWrite: fields.count(...CACHE_WRITE),
  })
}

/** If the program has no name, SDKs send `unknown_service` and the like. */
function harnessOf(fields: Fields, scope: string): string {
  const service = nameOf(fields.text('service.name'))
  if (service !== undefined && !service.startsWith('unknown_service')) return service
  return nameOf(scope) ?? 'unknown'
}

function isModelCall(fields: Fields, { name }: SpanSignal): boolean {
  const operation = fields.text('gen_ai.operation.name')
  return operation === undefined ? NAMED_AS_MODEL_CALL.test(name) : MODEL_CALLS.includes(operation)
}

/** Without a session, the trace is used, which is one run of a program. */
function sessionOf(fields: Fields, traceId: string): string {
  if (fields.text(...SESSION) === undefined && traceId !== '') return traceId
  return fields.session(...SESSION)
}

/**
 * A client's span may be inside that of a library which repeats its counts: the one that arrives first is counted, and
 * claims the identity of the other. Local servers generate response ids from a few hundred numbers, so the counts are
 * part of the identity.
 */
function identityOf(fields: Fields, span: SpanSignal, parts: Parts): Pick<Call, 'identity' | 'claims' | 'repeats'> {
  const { traceId, spanId, parentSpanId } = span
  const of = (role: 'span' | 'around', id: string) => [role, traceId, id, parts]
  const response = fields.text('gen_ai.response.id')
  const own = of('span', spanId)
  const isChild = parentSpanId !== ''
  return {
    identity: response === undefined ? own : ['response', response, parts],
    claims: [own, ...(isChild ? [of('around', parentSpanId)] : [])],
    repeats: [own, of('around', spanId), ...(isChild ? [of('span', parentSpanId)] : [])],
  }
}

function named(fields: Fields, parts: Parts, session: string) {
  return {
    session,
    model: fields.model(...MODEL),
    provider: providerOf(fields),
    service: { serviceTier: fields.service(...SERVICE_TIER) },
    parts,
  }
}

export const genAi: Agent = {
  harness: harnessOf,
  attributes: [
    ...INPUT,
    ...OUTPUT,
    ...CACHE_READ,
    ...CACHE_WRITE,
    ...CONTAINED,
    ...SESSION,
    ...MODEL,
    ...PROVIDER,
    ...SERVICE_TIER,
    'gen_ai.operation.name',
    'gen_ai.response.id',
    'user.email',
  ],
  // Set by opencode.
  own: { 'deployment.environment.name': 'latest' },
  logs: {
    [EVENT]: (fields, { timeNanos }) => {
      const parts = partsOf(fields)
      if (!parts) return undefined
      if (fields.text(...SESSION) === undefined) throw new Unusable('missing session.id or gen_ai.conversation.id')
      const at = momentOf(timeNanos)
      return {
        ...named(fields, parts, fields.session(...SESSION)),
        identity: [fields.text('gen_ai.response.id'), String(timeNanos), fields.text(...MODEL), parts],
        startedAt: at,
        endedAt: at,
      }
    },
  },
  spans: {
    matches: (_name, has) => [...INPUT, ...OUTPUT].some(has),
    read: (fields, span) => {
      if (!isModelCall(fields, span)) return undefined
      const parts = partsOf(fields)
      if (!parts) return undefined
      return {
        ...named(fields, parts, sessionOf(fields, span.traceId)),
        ...identityOf(fields, span, parts),
        startedAt: momentOf(span.startNanos),
        endedAt: momentOf(span.endNanos),
      }
    },
  },
  uncounted: {
    [EVENT]: 'agents with their own events are counted by those; requests without token counts contain no usage',
    'gen_ai.client.token.usage': 'histograms do not identify model calls; spans and events are counted instead',
  },
}
