/** Claude Code: one event per model call, counters that sum them, and spans if tracing is enabled. */
import type { Agent, Call, PointCount } from './agent.ts'
import { disjoint } from './counts.ts'
import { type Fields, momentOf, Unusable } from './fields.ts'
import type { Part, Parts } from './observation.ts'

const SCOPE = 'com.anthropic.claude_code'
const SESSION = 'session.id'

const PARTS_BY_TYPE: Record<string, Part> = {
  input: 'input',
  output: 'output',
  cacheRead: 'cacheRead',
  cacheCreation: 'cacheWrite',
}

/** The provider of the model. Absent in older versions, and for self-hosted servers. */
const PROVIDERS: Record<string, string> = { firstParty: 'anthropic', bedrock: 'aws', vertex: 'google' }

function providerOf(fields: Fields): string | undefined {
  return PROVIDERS[fields.text('anthropic.provider') ?? '']
}

/** `fast` or `normal`; of its tier and region it sends nothing. */
const serviceOf = (fields: Fields) => ({ speed: fields.service('speed') })

/**
 * Input excludes the cache. How long something is cached may be reported of all cache writes, of some, or of none, as in
 * older versions: the rest counts as cached for five minutes.
 */
function partsOf(fields: Fields): Parts | undefined {
  const written = fields.count('cache_creation_tokens') ?? 0
  const hour = fields.count('cache_creation_1h_tokens') ?? 0
  return disjoint({
    input: fields.count('input_tokens'),
    output: fields.count('output_tokens'),
    cacheRead: fields.count('cache_read_tokens'),
    cacheWrite: Math.max(fields.count('cache_creation_5m_tokens') ?? 0, written - hour),
    cacheWrite1h: hour,
  })
}

/** The request's id identifies a call; without one, its position in the session, its time and its counts do. */
function identityOf(fields: Fields, parts: Parts, time: unknown): readonly unknown[] {
  const request = fields.text('request_id')
  if (request !== undefined) return ['request', request]
  return [fields.text('event.sequence'), fields.text('event.timestamp'), String(time), fields.text('model'), parts]
}

function readCall(fields: Fields, times: Pick<Call, 'startedAt' | 'endedAt'>, time: bigint): Call | undefined {
  const parts = partsOf(fields)
  if (!parts) return undefined
  return {
    session: fields.session(SESSION),
    model: fields.model('model'),
    provider: providerOf(fields),
    service: serviceOf(fields),
    parts,
    // For models without a known price, the agent reports a cost of 0.
    costNanos: fields.cost('cost_usd') || undefined,
    identity: identityOf(fields, parts, time),
    ...times,
  }
}

function readPoint(fields: Fields, part: Part | 'cost'): PointCount {
  if (fields.text(SESSION) === undefined) {
    throw new Unusable(`missing ${SESSION}; set OTEL_METRICS_INCLUDE_SESSION_ID to true`)
  }
  return {
    session: fields.session(SESSION),
    model: fields.model('model'),
    provider: providerOf(fields),
    service: serviceOf(fields),
    part,
  }
}

export const claudeCode: Agent = {
  harness: 'claude-code',
  services: /^claude-code/,
  attributes: [
    SESSION,
    'user.email',
    'event.sequence',
    'event.timestamp',
    'request_id',
    'model',
    'anthropic.provider',
    'speed',
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_creation_tokens',
    'cache_creation_5m_tokens',
    'cache_creation_1h_tokens',
    'cost_usd',
    'type',
  ],
  logs: {
    'claude_code.api_request': (fields, { timeNanos }) => {
      const at = fields.moment('event.timestamp') ?? momentOf(timeNanos)
      return readCall(fields, { startedAt: at, endedAt: at }, timeNanos)
    },
    // The name without its prefix may be used by other programs.
    api_request: (fields, log) =>
      log.scope.startsWith(SCOPE) ? claudeCode.logs!['claude_code.api_request']!(fields, log) : undefined,
  },
  metrics: {
    'claude_code.token.usage': (fields) => {
      const part = PARTS_BY_TYPE[fields.text('type') ?? '']
      if (!part) throw new Unusable(`type is not one of ${Object.keys(PARTS_BY_TYPE).join(', ')}`)
      return readPoint(fields, part)
    },
    'claude_code.cost.usage': (fields) => readPoint(fields, 'cost'),
  },
  spans: {
    matches: (name) => name === 'claude_code.llm_request',
    read: (fields, { startNanos, endNanos }) =>
      readCall(fields, { startedAt: momentOf(startNanos), endedAt: momentOf(endNanos) }, endNanos),
  },
}
