import { describe, expect, test } from 'bun:test'
import { reasonNotCounted, signalFilter } from '../../../src/features/telemetry/channels/index.ts'
import type { Observation } from '../../../src/features/telemetry/channels/observation.ts'
import type { Attributes, LogSignal, PointSignal, SpanSignal } from '../../../src/features/telemetry/signals.ts'
import { readSignals } from '../../support/telemetry.ts'

type Given = Record<string, string | number | bigint | boolean>

const map = (given: Given): Attributes => new Map(Object.entries(given))
const NANOS = 1_795_197_179_924_000_000n

const log = (eventName: string, attributes: Given, more: Partial<LogSignal> & { from?: Given } = {}): LogSignal => ({
  kind: 'log',
  resource: map(more.from ?? {}),
  scope: more.scope ?? 'com.anthropic.claude_code.events',
  attributes: map(attributes),
  eventName,
  timeNanos: more.timeNanos ?? NANOS,
})

const point = (metric: string, attributes: Given, more: Partial<PointSignal> & { from?: Given } = {}): PointSignal => ({
  kind: 'point',
  resource: map(more.from ?? {}),
  scope: 'scope',
  attributes: map(attributes),
  metric,
  stream: more.stream ?? 'ab'.repeat(16),
  temporality: more.temporality ?? 'delta',
  startNanos: more.startNanos ?? NANOS - 1_000_000n,
  timeNanos: more.timeNanos ?? NANOS,
  value: more.value ?? 1,
})

const span = (name: string, attributes: Given, more: Partial<SpanSignal> & { from?: Given } = {}): SpanSignal => ({
  kind: 'span',
  resource: map(more.from ?? { 'service.name': 'my-agent' }),
  scope: more.scope ?? 'my-library',
  attributes: map(attributes),
  name,
  traceId: more.traceId ?? 'a'.repeat(32),
  spanId: more.spanId ?? 'b'.repeat(16),
  parentSpanId: more.parentSpanId ?? '',
  startNanos: more.startNanos ?? NANOS - 1_000_000_000n,
  endNanos: more.endNanos ?? NANOS,
})

function only(signal: LogSignal | PointSignal | SpanSignal): Observation {
  const { observations, rejectionReason } = readSignals([signal])
  expect(rejectionReason).toBeNull()
  expect(observations).toHaveLength(1)
  return observations[0]!
}

function partsOf({ usage }: Observation) {
  if (usage.kind !== 'request') throw new Error('This is a point.')
  const { input, output, cacheRead, cacheWrite, cacheWrite1h } = usage.parts
  return [input, output, cacheRead, cacheWrite, cacheWrite1h]
}

const CLAUDE = {
  'session.id': 's-1',
  model: 'claude-sonnet-5',
  input_tokens: 11,
  output_tokens: 38,
  cache_read_tokens: 5000,
  cache_creation_tokens: 1100,
  cost_usd: 0.004752,
  request_id: 'req_1',
}

describe('counts', () => {
  test('are the same as texts, integers, doubles and large integers', () => {
    const read = (count: string | number | bigint) =>
      partsOf(only(log('claude_code.api_request', { ...CLAUDE, input_tokens: count })))
    for (const given of [11, '11', 11n, '11.0']) expect(read(given)).toEqual([11, 38, 5000, 1100, 0])
  })

  test('that are negative, no numbers or beyond any session are rejected, with the name and not the value', () => {
    for (const given of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 'many', ' ', true, 10n ** 13n]) {
      const read = readSignals([log('claude_code.api_request', { ...CLAUDE, output_tokens: given })])
      expect(read.observations).toEqual([])
      expect([read.rejected, read.rejectionReason]).toEqual([
        1,
        'claude_code.api_request: output_tokens is not a whole number from 0 to 1000000000000',
      ])
    }
    for (const value of [-1, 1.5, Number.NaN]) {
      const token = point('claude_code.token.usage', { ...CLAUDE, type: 'input' }, { value })
      expect(readSignals([token])).toMatchObject({ observations: [], rejected: 1 })
    }
  })

  test('that are not there are none', () => {
    const { 'session.id': session, model } = CLAUDE
    const bare = log('claude_code.api_request', { 'session.id': session, model, output_tokens: 5 })
    expect(partsOf(only(bare))).toEqual([0, 5, 0, 0, 0])
    expect(readSignals([log('claude_code.api_request', { 'session.id': session, model })])).toMatchObject({
      observations: [],
      rejected: 0,
    })
  })

  test('without a session or a model are rejected, and say what is missing', () => {
    const { 'session.id': _, ...noSession } = CLAUDE
    const { model: __, ...noModel } = CLAUDE
    const reasonOf = (attributes: Given) => readSignals([log('claude_code.api_request', attributes)]).rejectionReason
    expect(reasonOf(noSession)).toBe('claude_code.api_request: missing session.id')
    expect(reasonOf(noModel)).toBe('claude_code.api_request: missing model')
    expect(reasonOf({ ...CLAUDE, model: 'x'.repeat(201) })).toContain('model is not valid text of up to 200 characters')
    expect(readSignals([point('claude_code.token.usage', { ...noSession, type: 'input' })]).rejectionReason).toContain(
      'OTEL_METRICS_INCLUDE_SESSION_ID',
    )
  })
})

describe('Claude Code', () => {
  test('splits what it wrote into the cache where it says how', () => {
    const told = { ...CLAUDE, cache_creation_5m_tokens: 700, cache_creation_1h_tokens: 400 }
    expect(partsOf(only(log('claude_code.api_request', told)))).toEqual([11, 38, 5000, 700, 400])
    const onlyHour = { ...CLAUDE, cache_creation_1h_tokens: 400 }
    expect(partsOf(only(log('claude_code.api_request', onlyHour)))).toEqual([11, 38, 5000, 700, 400])
    const neither = { ...CLAUDE, cache_creation_5m_tokens: 0, cache_creation_1h_tokens: 0 }
    expect(partsOf(only(log('claude_code.api_request', neither)))).toEqual([11, 38, 5000, 1100, 0])
    const some = { ...CLAUDE, cache_creation_5m_tokens: 20, cache_creation_1h_tokens: 30 }
    expect(partsOf(only(log('claude_code.api_request', some)))).toEqual([11, 38, 5000, 1070, 30])
  })

  test('costs nothing known where it says 0 for tokens, and exact nano-dollars otherwise', () => {
    const costOf = (cost_usd: number | string) => {
      const { usage } = only(log('claude_code.api_request', { ...CLAUDE, cost_usd }))
      return usage.kind === 'request' ? usage.costNanos : undefined
    }
    expect(costOf(0)).toBeNull()
    expect(costOf(0.009800000000000001)).toBe(9_800_000n)
    expect(costOf('0.0000000015')).toBe(2n)
  })

  test('is known by its scope where the event has the short name, which may be anybody’s', () => {
    expect(only(log('api_request', CLAUDE)).harness).toBe('claude-code')
    expect(readSignals([log('api_request', CLAUDE, { scope: 'my-proxy' })]).observations).toEqual([])
  })

  test('is the same call by the id of its request, whatever else was sent again', () => {
    const identityOf = (more: Given, timeNanos = NANOS) => {
      const { usage } = only(log('claude_code.api_request', { ...CLAUDE, ...more }, { timeNanos }))
      return usage.kind === 'request' ? usage.identity : undefined
    }
    expect(identityOf({})).toBe(identityOf({ 'event.sequence': 9 }, NANOS + 5n))
    expect(identityOf({})).not.toBe(identityOf({ request_id: 'req_2' }))
    expect(identityOf({ request_id: '' })).not.toBe(identityOf({ request_id: '' }, NANOS + 5n))
  })

  test('says which calls and which points of its counters were at a higher speed', () => {
    const speedOf = (speed: string) => only(log('api_request', { ...CLAUDE, speed })).service
    expect(speedOf('fast')).toEqual({ serviceTier: null, speed: 'fast', region: null })
    expect(speedOf('Fast')).toEqual(speedOf('fast'))
    for (const standard of ['normal', 'standard', '', 'x'.repeat(41), 'a\u001fb']) expect(speedOf(standard)).toBeNull()
    const counted = { 'session.id': 's', model: 'm', type: 'input' }
    expect(only(point('claude_code.token.usage', { ...counted, speed: 'fast' })).service).toEqual(speedOf('fast'))
    expect(only(point('claude_code.token.usage', counted, { from: { speed: 'fast' } })).service).toBeNull()
  })

  test('says who serves the model', () => {
    const providerOf = (provider: string) =>
      only(log('claude_code.api_request', { ...CLAUDE, 'anthropic.provider': provider })).provider
    expect([providerOf('firstParty'), providerOf('bedrock'), providerOf('something')]).toEqual([
      'anthropic',
      'aws',
      null,
    ])
  })
})

const CODEX = {
  'conversation.id': 'c-1',
  model: 'gpt-5-codex',
  'event.kind': 'response.completed',
  'event.timestamp': '2026-11-20T17:53:04.632Z',
  input_token_count: '9101',
  output_token_count: '707',
  cached_token_count: 6050,
  cache_write_token_count: 100,
}

test('Codex counts what is completed and has counts, at the time that the event says', () => {
  const observation = only(log('codex.sse_event', CODEX, { timeNanos: 0n, from: { 'service.name': 'codex_exec' } }))
  expect(partsOf(observation)).toEqual([2951, 707, 6050, 100, 0])
  expect(observation).toMatchObject({ harness: 'codex', agent: 'codex_exec', endedAt: 1_795_197_184_632 })
  const { input_token_count: _, ...bare } = CODEX
  for (const other of [bare, { ...CODEX, 'event.kind': 'response.created' }]) {
    const read = readSignals([log('codex.sse_event', other)])
    expect([read.observations, read.rejected, read.ignored.get('codex.sse_event')]).toEqual([[], 0, 1])
  }
})

test('Gemini counts thoughts as output and what tools brought as input', () => {
  const counts = { input_token_count: 100, cached_content_token_count: 30, tool_token_count: 5 }
  const event = {
    'session.id': 'g',
    model: 'gemini-2.5-pro',
    ...counts,
    output_token_count: 7,
    thoughts_token_count: 9,
  }
  expect(partsOf(only(log('gemini_cli.api_response', event)))).toEqual([75, 16, 30, 0, 0])
})

describe('by the GenAI conventions', () => {
  const CALL = {
    'session.id': 's-1',
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-5',
    'gen_ai.response.model': 'gpt-5-2026-08-07',
    'gen_ai.usage.input_tokens': 1000,
    'gen_ai.usage.output_tokens': 50,
    'gen_ai.usage.cache_read.input_tokens': 600,
    'gen_ai.usage.cache_creation.input_tokens': 100,
  }
  const EVENT = 'gen_ai.client.inference.operation.details'

  test('input is without the cache, and the model is the one that answered', () => {
    const observation = only(span('chat gpt-5', CALL))
    expect(partsOf(observation)).toEqual([300, 50, 600, 100, 0])
    expect(observation).toMatchObject({ harness: 'my-agent', session: 's-1', model: 'gpt-5-2026-08-07' })
    expect(partsOf(only(log(EVENT, CALL, { from: { 'service.name': 'my-agent' } })))).toEqual([300, 50, 600, 100, 0])
  })

  test('the service tier is the one of the response, not the one that was asked for', () => {
    const tierOf = (attributes: Given) => only(span('chat', { ...CALL, ...attributes })).service?.serviceTier ?? null
    expect(tierOf({ 'openai.response.service_tier': 'flex' })).toBe('flex')
    expect(tierOf({ 'gen_ai.openai.response.service_tier': 'priority' })).toBe('priority')
    expect(tierOf({ 'openai.request.service_tier': 'priority', 'openai.response.service_tier': 'default' })).toBeNull()
    expect(tierOf({ 'openai.request.service_tier': 'priority' })).toBeNull()
  })

  test('an input that is smaller than the cache was never with it', () => {
    expect(partsOf(only(span('chat', { ...CALL, 'gen_ai.usage.input_tokens': 12 })))).toEqual([12, 50, 600, 100, 0])
  })

  test('the call to the model counts, and no agent, workflow or tool around it', () => {
    const { 'gen_ai.operation.name': _, ...unnamed } = CALL
    for (const name of ['ai.streamText.doStream', 'ai.generateText.doGenerate', 'openai.chat', 'chat gpt-5']) {
      expect(readSignals([span(name, unnamed)]).observations).toHaveLength(1)
    }
    for (const name of ['ai.streamText', 'ai.generateText', 'agent run', 'my chat']) {
      expect(readSignals([span(name, unnamed)]).observations).toHaveLength(0)
    }
    for (const operation of ['invoke_agent', 'execute_tool', 'create_agent', 'invoke_workflow']) {
      const around = span('chat', { ...CALL, 'gen_ai.operation.name': operation })
      expect(readSignals([around]).observations).toHaveLength(0)
    }
  })

  test('the AI SDK’s names for what came from the cache are known', () => {
    const { 'gen_ai.usage.cache_read.input_tokens': _, 'gen_ai.usage.cache_creation.input_tokens': __, ...call } = CALL
    expect(partsOf(only(span('chat', { ...call, 'ai.usage.cachedInputTokens': 400 })))).toEqual([600, 50, 400, 0, 0])
  })

  test('cache writes count under each of their names', () => {
    const { 'gen_ai.usage.cache_creation.input_tokens': _, ...call } = CALL
    const named = { ...call, 'gen_ai.usage.cache_write.input_tokens': 250 }
    expect(partsOf(only(span('chat', named)))).toEqual([150, 50, 600, 250, 0])
    // Both, as during a migration of a program, are the same tokens.
    expect(partsOf(only(span('chat', { ...CALL, ...named })))).toEqual([150, 50, 600, 250, 0])
  })

  test('an attribute that may be a count and is not known is named, and parts and sums of known ones are not', () => {
    const known = { ...CALL, 'gen_ai.usage.total_tokens': 1050, 'gen_ai.usage.reasoning.output_tokens': 20 }
    const { observations, ignored } = readSignals([
      span('chat', known),
      span('chat', { ...known, 'gen_ai.usage.cache_magic.input_tokens': 9_000 }),
      log(EVENT, { ...CALL, 'gen_ai.usage.cache_magic.input_tokens': 9_000 }, { from: { 'service.name': 'x' } }),
    ])
    expect(observations).toHaveLength(3)
    expect([...ignored]).toEqual([['gen_ai.usage.cache_magic.input_tokens', 2]])
    expect(reasonNotCounted('gen_ai.usage.cache_magic.input_tokens')).toContain('does not know')
    expect(signalFilter.attribute('gen_ai.usage.cache_magic.input_tokens')).toBe(true)
    expect(signalFilter.attribute('gen_ai.prompt')).toBe(false)
  })

  test('without a session the trace is one; an event, which has none, is rejected', () => {
    const { 'session.id': _, ...nowhere } = CALL
    expect(only(span('chat', { ...nowhere, 'gen_ai.conversation.id': 'c-9' })).session).toBe('c-9')
    expect(only(span('chat', nowhere)).session).toBe('a'.repeat(32))
    expect(readSignals([log(EVENT, nowhere, { from: { 'service.name': 'my-agent' } })])).toMatchObject({
      observations: [],
      rejectionReason: `${EVENT}: missing session.id or gen_ai.conversation.id`,
    })
  })

  test('an agent with an event of its own is not counted by the general one, nor by spans without its session', () => {
    const from = { 'service.name': 'gemini-cli' }
    expect(readSignals([log(EVENT, CALL, { from })]).observations).toEqual([])
    const { 'session.id': _, ...nowhere } = CALL
    expect(readSignals([span('chat', nowhere, { from: { 'service.name': 'codex_cli_rs' } })]).observations).toEqual([])
    expect(only(span('chat', CALL, { from: { 'service.name': 'codex_cli_rs' } })).harness).toBe('codex')
  })

  test('a program without a name is called after its instrumentation', () => {
    const harnessOf = (from: Given) => only(span('chat', CALL, { from })).harness
    expect([harnessOf({}), harnessOf({ 'service.name': 'unknown_service:node' })]).toEqual(['my-library', 'my-library'])
  })

  test('providers are called as price tables call them', () => {
    const providerOf = (name: string) => only(span('chat', { ...CALL, 'gen_ai.provider.name': name })).provider
    expect(['aws.bedrock', 'gcp.vertex_ai', 'openai.responses', 'x_ai', 'acme'].map(providerOf)).toEqual([
      'aws',
      'google',
      'openai',
      'x-ai',
      'acme',
    ])
  })
})

describe('resources', () => {
  const labelsOf = (from: Given) => {
    // Decoding drops what is not read before anybody reads it.
    const kept = Object.fromEntries(Object.entries(from).filter(([name]) => signalFilter.resourceAttribute(name)))
    return only(log('claude_code.api_request', CLAUDE, { from: kept })).labels
  }

  test('give labels, the project and the ticket', () => {
    const from = { team: 'core', 'team.id': 'platform', 'service.namespace': 'shop', Cost_Center: 'R&D 7' }
    expect(labelsOf(from)).toEqual({
      cost_center: 'R&D 7',
      'service.namespace': 'shop',
      team: 'core',
      'team.id': 'platform',
    })
    const placed = only(
      log('claude_code.api_request', CLAUDE, { from: { project: 'other', 'tally.project': 'acme', ticket: 'ACME-1' } }),
    )
    expect(placed).toMatchObject({ project: 'acme', ticket: 'ACME-1', labels: null })
  })

  test('give no label of what SDKs and agents say of themselves', () => {
    expect(
      labelsOf({
        'host.name': 'vm',
        'host.arch': 'amd64',
        'os.type': 'linux',
        os: 'Debian',
        os_version: '12',
        'process.pid': 7,
        'process.command': 'gemini -p secret',
        'telemetry.sdk.name': 'opentelemetry',
        'service.name': 'claude-code',
        'service.instance.id': 'x',
        'opencode.run': 'x',
        'session.id': 'x',
        'k8s.pod.name': 'x',
        'user.id': 'x',
        'enduser.id': 'jdoe@example.com',
      }),
    ).toBeNull()
    const codex = log('codex.sse_event', CODEX, { from: { env: 'dev', team: 'core' } })
    expect(only(codex).labels).toEqual({ team: 'core' })
    expect(only(log('codex.sse_event', CODEX, { from: { env: 'production' } })).labels).toEqual({ env: 'production' })
  })

  test('give no label that may be a path, an address, a person, a secret or a prompt', () => {
    expect(
      labelsOf({
        working_directory: 'proj',
        'git.path': 'x',
        api_token: 'x',
        last_prompt: 'x',
        'vcs.url': 'x',
        team: '/home/dev/proj',
        a: '~/proj',
        b: 'C:\\Users\\dev',
        c: 'https://example.com/x',
        d: 'jdoe@example.com',
        e: '{"a":1}',
        f: 'please fix the failing test in the checkout',
        g: 'x'.repeat(101),
        h: '',
        i: 'two\nlines',
      }),
    ).toBeNull()
  })

  test('give no label of what is private however its name is put together', () => {
    const names =
      'apiKey apikey systemPrompt user_prompts hostName clientIPAddress workingDirectory userName set-cookie jwt bearer ' +
      'dbpassword passwd pw accesstoken privatekey aws_session_tokens connection_string dsn webhook cmdline question ' +
      'answer transcript conversation.title description author phone mac computer'
    for (const name of names.split(' ')) expect([name, labelsOf({ [name]: 'quiet' })]).toEqual([name, null])
  })

  test('give no label whose value is a secret, whatever its name', () => {
    const secrets = [
      'sk-ant-api03-AAAA',
      'sk_live_51H8',
      'ghp_aaaaaaaaaaaa',
      'github_pat_11AAAA',
      'glpat-aaaaaaaa',
      'xoxb-1234-abcd',
      'AKIAIOSFODNN7EXAMPLE',
      'AIzaSyA1234567890',
      'npm_aaaaaaaa',
      'hf_aaaaaaaa',
      'tally_svc_aaaaaaaa',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
      'Bearer abc',
      'key is sk-proj-AAAA',
      '10.1.2.3',
      'at 10.1.2.3:8080',
    ]
    for (const secret of secrets) expect([secret, labelsOf({ stage: secret })]).toEqual([secret, null])
    for (const stage of ['risk-low', 'task_force', 'v1.2.3', 'feature/ACME-42', 'acme/web', '1.2.3.4-rc', 'monkey']) {
      expect(labelsOf({ stage })).toEqual({ stage })
    }
  })

  test('give sixteen labels at most, always the same', () => {
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`l${String(index).padStart(2, '0')}`, 'x']),
    )
    const backwards = Object.fromEntries(Object.entries(many).reverse())
    expect(Object.keys(labelsOf(many)!)).toEqual(Object.keys(many).slice(0, 16))
    expect(labelsOf(backwards)).toEqual(labelsOf(many))
  })
})

test('a metric’s points are told apart by their stream, and a delta by its time as well', () => {
  const streamOf = (more: Partial<PointSignal>) => {
    const { usage } = only(point('claude_code.token.usage', { ...CLAUDE, type: 'input' }, more))
    return usage.kind === 'request' ? undefined : usage.stream
  }
  expect(streamOf({})).not.toBe(streamOf({ stream: 'cd'.repeat(16) }))
  expect(streamOf({})).not.toBe(streamOf({ timeNanos: NANOS + 1n }))
  const cumulative = { temporality: 'cumulative' } as const
  expect(streamOf(cumulative)).toBe(streamOf({ ...cumulative, timeNanos: NANOS + 1n }))
  expect(streamOf(cumulative)).not.toBe(streamOf({ ...cumulative, startNanos: NANOS - 2n }))
})

test('whatever has nothing that counts is not read at all', () => {
  expect(signalFilter.log('codex.user_prompt')).toBe(false)
  expect(signalFilter.metric('codex.turn.token_usage')).toBe(false)
  expect(signalFilter.span('sql.execute', () => false)).toBe(false)
  for (const name of ['prompt', 'response', 'ai.prompt.messages', 'gen_ai.system_instructions', 'cwd', 'host.name']) {
    expect([name, signalFilter.attribute(name), signalFilter.resourceAttribute(name)]).toEqual([name, false, false])
  }
})
