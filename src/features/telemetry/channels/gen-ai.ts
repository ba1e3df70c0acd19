/**
 * OpenTelemetry's conventions for generative AI, which opencode, the AI SDK and many libraries follow, and those of
 * OpenInference: an event or a span per model call. https://opentelemetry.io/docs/specs/semconv/gen-ai/
 * https://arize-ai.github.io/openinference/spec/semantic_conventions.html
 */
import type { SpanSignal } from '../signals.ts'
import type { Agent, Call } from './agent.ts'
import { disjoint, withoutCache } from './counts.ts'
import { countOf, type Fields, momentOf, nameOf, Unusable } from './fields.ts'
import type { Parts, SpanLink } from './observation.ts'

const EVENT = 'gen_ai.client.inference.operation.details'

/** The convention's current name first, then those of its earlier versions, of OpenInference and of the AI SDK. */
const INPUT = ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt', 'ai.usage.tokens']
const OUTPUT = ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.token_count.completion']
const CACHE_READ = [
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_read_input_tokens',
  'llm.token_count.prompt_details.cache_read',
  'ai.usage.inputTokenDetails.cacheReadTokens',
  'ai.usage.cachedInputTokens',
]
const CACHE_WRITE = [
  'gen_ai.usage.cache_write.input_tokens',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.cache_creation_input_tokens',
  'llm.token_count.prompt_details.cache_write',
  'ai.usage.inputTokenDetails.cacheWriteTokens',
]
const CACHE_WRITE_1H = [
  'anthropic.usage.cache_creation.ephemeral_1h_input_tokens',
  'gen_ai.usage.details.ephemeral_1h_input_tokens',
]
/** The input without the cache: only the AI SDK sends it, from version 6. */
const NOT_CACHED = ['ai.usage.inputTokenDetails.noCacheTokens']
/** Parts and sums of the other counts. */
const CONTAINED = [
  'gen_ai.usage.reasoning.output_tokens',
  'gen_ai.usage.reasoning_tokens',
  'gen_ai.usage.total_tokens',
  'gen_ai.usage.input_cost',
  'gen_ai.usage.output_cost',
  'gen_ai.usage.details.reasoning_tokens',
  'gen_ai.usage.details.cache_creation_input_tokens',
  'gen_ai.usage.details.cache_read_input_tokens',
  'gen_ai.usage.details.cache_write_tokens',
  'gen_ai.usage.details.cache_read_tokens',
  'llm.token_count.total',
  'llm.token_count.completion_details.reasoning',
  'llm.token_count.completion_details.audio',
  'llm.token_count.prompt_details.audio',
]
const COST = [
  'gen_ai.usage.total_cost',
  'gen_ai.usage.cost',
  'gen_ai.cost.total_cost',
  'operation.cost',
  'llm.cost.total',
]
/** Texts with the vendor's own counts: of LiteLLM, LangSmith and the AI SDK, whose counts may lack the cache. */
const USAGE_TEXTS = ['metadata.usage_object', 'langsmith.metadata.usage_metadata', 'ai.response.providerMetadata']
const SESSION = [
  'session.id',
  'gen_ai.conversation.id',
  'ai.telemetry.metadata.sessionId',
  'traceloop.association.properties.session_id',
  'traceloop.association.properties.thread_id',
  'langsmith.metadata.session_id',
  'langsmith.metadata.thread_id',
]
const MODEL = [
  'gen_ai.response.model',
  'gen_ai.request.model',
  'llm.response.model_name',
  'llm.model_name',
  'embedding.model_name',
  'ai.model.id',
]
const PROVIDER = ['gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system', 'ai.model.provider']

/** What was asked for may not be what was used and charged. */
const SERVICE_TIER = [
  'openai.response.service_tier',
  'gen_ai.openai.response.service_tier',
  'anthropic.response.service_tier',
]

/** The scope of the AI SDK. */
const AI_SDK = 'ai'

/** Names under which `tally telemetry status` counts the calls with counts that are not certain. */
const UNCERTAIN_INPUT = 'input_tokens'
const UNCERTAIN_CACHE = 'cache_read_tokens'
const UNCERTAIN_HOUR = 'cache_write_1h_tokens'
const UNCERTAIN_OUTPUT = 'output_tokens'

/** Operations that are model calls. Agents, workflows and tools have enclosing spans that may repeat their counts. */
const MODEL_CALLS = ['chat', 'generate_content', 'text_completion', 'embeddings', 'embedding', 'responses']

/** The same of OpenInference. */
const OPERATION = 'gen_ai.operation.name'
const KIND = 'openinference.span.kind'
const MODEL_KINDS = ['LLM', 'EMBEDDING']

/** First words of the names of spans around model calls that have counts, too. */
const AROUND = [
  'invoke_agent',
  'invoke_workflow',
  'agent',
  'ai.generateText',
  'ai.streamText',
  'ai.generateObject',
  'ai.streamObject',
  'ai.embed',
  'RunnableSequence',
  'LangGraph',
]

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

/** The first number with one of these names in JSON or in a Python dictionary. */
function countIn(text: string, names: string): number | undefined {
  const digits = new RegExp(`["'](?:${names})["']\\s*:\\s*(\\d+)(?![\\d.])`).exec(text)?.[1]
  return digits === undefined ? undefined : countOf(digits, names)
}

interface Usage {
  parts: Parts
  /** Names of counts that are uncertain. */
  uncertain: string[]
}

/**
 * The conventions say that the input includes the cache. Version 5 of the AI SDK passes on the counts of Anthropic, whose
 * input does not.
 */
function usageOf(fields: Fields, scope: string): Usage | undefined {
  const text = USAGE_TEXTS.map((name) => fields.attributes.get(name)).find((each) => typeof each === 'string') ?? ''
  const inText = (names: string) => countIn(String(text), names)
  const input = fields.count(...INPUT)
  const cacheRead =
    fields.count(...CACHE_READ) ?? inText('cache_read_input_tokens|cacheReadInputTokens|cached_tokens|cache_read')
  const write =
    fields.count(...CACHE_WRITE) ??
    inText('cache_creation_input_tokens|cacheCreationInputTokens|cache_write_tokens|cache_creation')
  const ofHour = fields.count(...CACHE_WRITE_1H) ?? inText('ephemeral_1h_input_tokens')
  // LangChain reports no sum if it reports its parts.
  const split = (ofHour ?? 0) + (inText('ephemeral_5m_input_tokens') ?? 0)
  const cacheWrite = Math.max(write ?? 0, split) - (ofHour ?? 0)
  const counts = { output: fields.count(...OUTPUT), cacheRead, cacheWrite, cacheWrite1h: ofHour }
  const isAnthropic = fields.text(...PROVIDER)?.includes('anthropic') ?? false
  const notCached = fields.count(...NOT_CACHED)
  const excludesCache = scope === AI_SDK && isAnthropic
  const parts =
    notCached === undefined && !excludesCache
      ? withoutCache({ ...counts, inputSide: input })
      : disjoint({ ...counts, input: notCached ?? input })
  if (!parts) return undefined
  const uncertain: string[] = []
  if (input && cacheRead === undefined && scope === AI_SDK && !isAnthropic && !isEmbedding(fields))
    uncertain.push(UNCERTAIN_CACHE)
  if (parts.cacheWrite > 0 && isAnthropic && ofHour === undefined) uncertain.push(UNCERTAIN_HOUR)
  if (input !== undefined && counts.output === undefined && !isEmbedding(fields)) uncertain.push(UNCERTAIN_OUTPUT)
  if (input === 0 && parts.output > 0 && parts.cacheRead === 0) uncertain.push(UNCERTAIN_INPUT)
  return { parts, uncertain }
}

/** If the program has no name, SDKs send `unknown_service` and the like. */
function harnessOf(fields: Fields, scope: string): string {
  const service = nameOf(fields.text('service.name'))
  if (service !== undefined && !service.startsWith('unknown_service')) return service
  return nameOf(scope) ?? 'unknown'
}

function isModelCall(fields: Fields, { name }: SpanSignal): boolean {
  const kind = fields.text(KIND)
  if (kind !== undefined) return MODEL_KINDS.includes(kind)
  const operation = fields.text(OPERATION)
  return operation === undefined ? NAMED_AS_MODEL_CALL.test(name) : MODEL_CALLS.includes(operation)
}

function isEmbedding(fields: Fields): boolean {
  return fields.has('ai.usage.tokens') || /^embedding/i.test(fields.text(KIND, OPERATION) ?? '')
}

/** Without a session, the trace is used, which is one run of a program. */
function sessionOf(fields: Fields, traceId: string): string {
  if (fields.text(...SESSION) === undefined && traceId !== '') return traceId
  return fields.session(...SESSION)
}

/**
 * A client's span may be inside that of a library which reports the same call, and may arrive in another request, of another
 * session: the one that arrives first is counted, and claims the identity of the other. Local servers generate response ids
 * from a few hundred numbers, so the counts are part of the identity.
 */
function identityOf(fields: Fields, span: SpanSignal, parts: Parts): Pick<Call, 'identity' | 'claims' | 'repeats'> {
  const { traceId, spanId, parentSpanId } = span
  const response = fields.text('gen_ai.response.id')
  const own = ['span', traceId, spanId]
  const around = (id: string) => ['around', traceId, id]
  const isChild = parentSpanId !== ''
  return {
    identity: response === undefined ? [...own, parts] : ['response', response, parts],
    claims: [own, ...(isChild ? [around(parentSpanId)] : [])],
    repeats: [own, around(spanId), ...(isChild ? [['span', traceId, parentSpanId]] : [])],
  }
}

function linkOf(fields: Fields, span: SpanSignal, uncertain: string[]): SpanLink {
  const { traceId, spanId, parentSpanId, scope } = span
  return {
    ...{ traceId, spanId, parentSpanId, scope, uncertain },
    response: fields.text('gen_ai.response.id') ?? null,
    process: fields.text('service.instance.id', 'service.name') ?? '',
    namesSession: fields.text(...SESSION) !== undefined,
    hasOutput: OUTPUT.some((name) => fields.has(name)),
  }
}

function costOf(fields: Fields): bigint | undefined {
  const name = COST.find((each) => fields.has(each))
  // A price of 0 means that the library knows none.
  return (name === undefined ? undefined : fields.cost(name)) || undefined
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
    ...CACHE_WRITE_1H,
    ...NOT_CACHED,
    ...CONTAINED,
    ...COST,
    ...USAGE_TEXTS,
    ...SESSION,
    ...MODEL,
    ...PROVIDER,
    ...SERVICE_TIER,
    OPERATION,
    KIND,
    'gen_ai.response.id',
    'user.email',
  ],
  // Set by opencode.
  own: { 'deployment.environment.name': 'latest' },
  logs: {
    [EVENT]: (fields, { timeNanos, scope }) => {
      const { parts } = usageOf(fields, scope) ?? {}
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
      const usage = usageOf(fields, span.scope)
      if (!usage) return undefined
      const { parts, uncertain } = usage
      return {
        ...named(fields, parts, sessionOf(fields, span.traceId)),
        ...identityOf(fields, span, parts),
        costNanos: costOf(fields),
        link: linkOf(fields, span, uncertain),
        startedAt: momentOf(span.startNanos),
        endedAt: momentOf(span.endNanos),
      }
    },
  },
  uncounted: {
    [EVENT]: 'agents with their own events are counted by those; requests without token counts contain no usage',
    'gen_ai.client.token.usage': 'histograms do not identify model calls; spans and events are counted instead',
    ...Object.fromEntries(
      AROUND.map((name) => [name, 'repeats the counts of the model calls inside it, which are counted']),
    ),
    [UNCERTAIN_INPUT]: 'these calls are counted without input tokens, because the library does not send them',
    [UNCERTAIN_CACHE]:
      'the library does not send cached tokens of these calls: they are counted as input, and may cost less than shown',
    [UNCERTAIN_HOUR]:
      'the library does not send how long cached tokens are kept: those of these calls are counted as writes of five minutes',
    [UNCERTAIN_OUTPUT]:
      'the answers of these calls were interrupted before their last count: only the output tokens sent until then are counted',
  },
}
