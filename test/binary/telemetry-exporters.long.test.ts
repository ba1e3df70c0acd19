/**
 * The exporters that programs use, of OpenTelemetry's own packages, against the executable: both encodings, compressed
 * or not, and what they do when the server is away, refuses or answers too late. Totals must be exact each time.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { OTLPLogExporter as LogsAsJson } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as LogsAsProtobuf } from '@opentelemetry/exporter-logs-otlp-proto'
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter as MetricsAsJson,
} from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as MetricsAsProtobuf } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as TracesAsJson } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as TracesAsProtobuf } from '@opentelemetry/exporter-trace-otlp-proto'
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { Installation, type Server } from '../support/binary.ts'
import { until } from '../support/processes.ts'

const EXPORTERS = {
  json: { logs: LogsAsJson, metrics: MetricsAsJson, traces: TracesAsJson },
  protobuf: { logs: LogsAsProtobuf, metrics: MetricsAsProtobuf, traces: TracesAsProtobuf },
}

type Encoding = keyof typeof EXPORTERS

const WAYS = (['json', 'protobuf'] as const).flatMap((encoding) =>
  [CompressionAlgorithm.NONE, CompressionAlgorithm.GZIP].map((compression) => ({ encoding, compression })),
)

/** Agents export metrics once a minute. */
const NEXT_PUSH_MS = 60_000

let tally: Installation
let server: Server
let organization: string
let reading: string

beforeAll(async () => {
  tally = await Installation.brief()
  server = await tally.serve()
  await tally.addUser('boss@example.com', 'admin')
  organization = (await tally.createToken('org', 'boss@example.com')).token
  reading = (await tally.createToken('read', 'boss@example.com')).token
})
afterAll(async () => {
  await server.stop()
  await tally.remove()
})

interface Target {
  url?: string
  encoding?: Encoding
  compression?: CompressionAlgorithm
}

const optionsOf = (kind: string, { url = server.url, compression = CompressionAlgorithm.NONE }: Target) => ({
  url: `${url}/api/v1/telemetry/v1/${kind}`,
  headers: { authorization: `Bearer ${organization}` },
  compression,
  // A machine that is busy with other tests answers late.
  timeoutMillis: 60_000,
})

const resource = (name: string) => resourceFromAttributes({ 'service.name': name, project: 'acme-web', team: 'core' })

/** Six model calls as Claude Code logs them, in two batches. */
async function logCalls(session: string, target: Target): Promise<void> {
  const exporter = new EXPORTERS[target.encoding ?? 'protobuf'].logs(optionsOf('logs', target))
  const processor = new BatchLogRecordProcessor({ exporter, maxExportBatchSize: 3, scheduledDelayMillis: 60_000 })
  const provider = new LoggerProvider({ resource: resource('claude-code'), processors: [processor] })
  const logger = provider.getLogger('com.anthropic.claude_code.events')
  for (let call = 1; call <= 6; call++) {
    logger.emit({
      body: 'claude_code.api_request',
      attributes: {
        'event.name': 'api_request',
        'session.id': session,
        model: call % 2 ? 'claude-sonnet-4-5' : 'claude-haiku-4-5',
        request_id: `${session}-${call}`,
        input_tokens: call,
        output_tokens: 10 * call,
        cache_read_tokens: 100 * call,
        cache_creation_tokens: 1000 * call,
        cost_usd: 0.000_000_1 * call,
        prompt: 'zanzibar',
      },
    })
    logger.emit({ body: 'zanzibar', attributes: { 'event.name': 'user_prompt', prompt: 'zanzibar' } })
  }
  await provider.forceFlush()
  await provider.shutdown()
}

const LOGGED = {
  'claude-sonnet-4-5': { input: 9, output: 90, cache_read: 900, cache_write: 9000 },
  'claude-haiku-4-5': { input: 12, output: 120, cache_read: 1200, cache_write: 12000 },
}

/** Counters of a session that are exported four times, in which the second time brings nothing new. */
async function countTokens(session: string, target: Target, temporalityPreference: AggregationTemporalityPreference) {
  const exporter = new EXPORTERS[target.encoding ?? 'protobuf'].metrics({
    ...optionsOf('metrics', target),
    temporalityPreference,
  })
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 })
  const provider = new MeterProvider({ resource: resource('claude-code'), readers: [reader] })
  const counter = provider.getMeter('com.anthropic.claude_code').createCounter('claude_code.token.usage')
  const add = (count: number, type: string) =>
    counter.add(count, { 'session.id': session, model: 'claude-sonnet-4-5', type })
  for (const round of [1, 0, 2, 3]) {
    if (round > 0) {
      add(round, 'input')
      add(10 * round, 'output')
      add(100 * round, 'cacheRead')
      add(1000 * round, 'cacheCreation')
    }
    await provider.forceFlush()
  }
  await provider.shutdown()
}

const COUNTED = { 'claude-sonnet-4-5': { input: 6, output: 60, cache_read: 600, cache_write: 6000 } }

/** Three model calls, each within an agent's span that repeats their sum. */
async function traceCalls(session: string, target: Target): Promise<void> {
  const exporter = new EXPORTERS[target.encoding ?? 'protobuf'].traces(optionsOf('traces', target))
  const processor = new BatchSpanProcessor({ exporter, scheduledDelayMillis: 60_000 })
  const provider = new TracerProvider({ resource: resource('my-agent'), spanProcessors: [processor] })
  const tracer = provider.getTracer('my-agent')
  const usage = (input: number, output: number) => ({
    'gen_ai.conversation.id': session,
    'gen_ai.response.model': 'gpt-5',
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
  })
  for (let call = 1; call <= 3; call++) {
    const attributes = { ...usage(100 * call, 10 * call), 'gen_ai.operation.name': 'chat', 'gen_ai.prompt': 'zanzibar' }
    tracer.startSpan('chat gpt-5', { attributes }).end()
  }
  tracer.startSpan('invoke_agent', { attributes: { ...usage(600, 60), 'gen_ai.operation.name': 'invoke_agent' } }).end()
  tracer.startSpan('read /home/zanzibar', { attributes: { 'server.address': 'zanzibar' } }).end()
  await provider.forceFlush()
  await provider.shutdown()
}

const TRACED = { 'gpt-5': { input: 600, output: 60, cache_read: 0, cache_write: 0 } }

interface Entry {
  model: string
  session_id: string
  source: string
  cost: number
  project: { key: string } | null
  labels: Record<string, string>
  tokens: Record<string, number>
}

async function entriesOf(session: string): Promise<Entry[]> {
  const answer = await server.call('GET', `/api/v1/token-entries?session_id=${session}`, { token: reading })
  return ((await answer.json()) as { data: Entry[] }).data
}

async function totalsOf(session: string) {
  return Object.fromEntries(
    (await entriesOf(session)).map(({ model, tokens: { input, output, cache_read, cache_write } }) => [
      model,
      { input, output, cache_read, cache_write },
    ]),
  )
}

let sessions = 0
const newSession = () => `session-${++sessions}`

describe.each(WAYS)('exported as $encoding, compressed by $compression', (way) => {
  test('log records become entries of their session, with the place and labels of the resource', async () => {
    const session = newSession()
    await logCalls(session, way)
    expect(await totalsOf(session)).toEqual(LOGGED)
    for (const entry of await entriesOf(session)) {
      expect(entry).toMatchObject({ source: 'log', project: { key: 'acme-web' }, labels: { team: 'core' } })
    }
    const costs = (await entriesOf(session)).map(({ model, cost }) => [model, cost])
    expect(Object.fromEntries(costs)).toEqual({ 'claude-sonnet-4-5': 0.000_000_9, 'claude-haiku-4-5': 0.000_001_2 })
  })

  test('counters do, as differences and as sums', async () => {
    for (const preference of [AggregationTemporalityPreference.DELTA, AggregationTemporalityPreference.CUMULATIVE]) {
      const session = newSession()
      await countTokens(session, way, preference)
      expect(await totalsOf(session)).toEqual(COUNTED)
    }
  })

  test('spans of model calls do', async () => {
    const session = newSession()
    await traceCalls(session, way)
    expect(await totalsOf(session)).toEqual(TRACED)
  })
})

/** Stands between exporters and the server, and spoils what `spoil` says of the requests, which it counts from 1. */
function between(port: number, spoil: (request: number) => 'refuse' | 'lose' | 'pass') {
  let requests = 0
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port,
    async fetch(request) {
      requests += 1
      const issue = spoil(requests)
      if (issue === 'refuse') return new Response(null, { status: 503, headers: { 'retry-after': '0' } })
      const { pathname } = new URL(request.url)
      const { method, headers } = request
      const answer = await fetch(server.url + pathname, {
        method,
        headers,
        body: await request.bytes(),
        decompress: false,
      })
      // The server has taken it, and the client does not learn that.
      if (issue === 'lose') return new Response(null, { status: 502, headers: { 'retry-after': '0' } })
      return answer
    },
  })
  return { url: `http://127.0.0.1:${proxy.port}`, requests: () => requests, stop: () => proxy.stop(true) }
}

describe('an exporter that', () => {
  const alternately = (issue: 'refuse' | 'lose') => (request: number) => (request % 2 ? issue : 'pass')

  test.each(['refuse', 'lose'] as const)('tries again since the answer was to %s is counted once', async (issue) => {
    for (const [send, expected] of [
      [logCalls, LOGGED],
      [
        (session: string, target: Target) => countTokens(session, target, AggregationTemporalityPreference.DELTA),
        COUNTED,
      ],
      [traceCalls, TRACED],
    ] as const) {
      const session = newSession()
      const proxy = between(0, alternately(issue))
      await send(session, { url: proxy.url })
      expect(proxy.requests()).toBeGreaterThan(1)
      proxy.stop()
      expect(await totalsOf(session)).toEqual(expected)
    }
  })

  test('cannot reach the server at first delivers once it is up', async () => {
    const session = newSession()
    let attempts = 0
    const refusing = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        open(socket) {
          attempts += 1
          socket.terminate()
        },
        data() {},
      },
    })
    const { port } = refusing
    const sending = logCalls(session, { url: `http://127.0.0.1:${port}` })
    expect(await until(() => attempts > 0)).toBe(true)
    refusing.stop(true)
    const proxy = between(port, () => 'pass')
    await sending
    expect(proxy.requests()).toBeGreaterThan(0)
    proxy.stop()
    expect(await totalsOf(session)).toEqual(LOGGED)
  })
})

test('a push is in the status on the command line long before the next one', async () => {
  interface Status {
    pushes: { requests: number }[]
  }
  const requests = async () => (await tally.runJson<Status>(['telemetry', 'status'])).pushes[0]?.requests ?? 0
  const before = await requests()
  await logCalls(newSession(), {})
  expect(await until(async () => (await requests()) >= before + 2, NEXT_PUSH_MS / 2)).toBe(true)
})

test('a session that is pushed on every way at once is counted by one of them, and again after a restart', async () => {
  const session = newSession()
  const push = async () => {
    await Promise.all(WAYS.map((way) => logCalls(session, way)))
    await countTokens(session, {}, AggregationTemporalityPreference.CUMULATIVE)
  }
  await push()
  expect(await totalsOf(session)).toEqual(LOGGED)
  await server.stop()
  server = await tally.serve()
  await push()
  expect(await totalsOf(session)).toEqual(LOGGED)
})

test('nothing else of what was exported is in the folder of the server', async () => {
  const grep = Bun.spawn(['grep', '-r', '-l', '--binary-files=text', 'zanzibar', tally.folder], { stdout: 'pipe' })
  expect(await new Response(grep.stdout).text()).toBe('')
})
