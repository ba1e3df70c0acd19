/** Exports as agents send them, reduced to the parts that Tally reads. */
import type { Kind } from './otlp/decode.ts'
import type { TelemetryAssigned, TelemetryStatus } from './schema.ts'

const SESSION = '7abded9e-af37-492b-8216-95394ad33034'

const pairs = (values: Record<string, string | number>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }))

const resource = (service: string) => ({ attributes: pairs({ 'service.name': service, project: 'acme-web' }) })

export const EXAMPLE_EXPORTS: Record<Kind, object> = {
  logs: {
    resourceLogs: [
      {
        resource: resource('claude-code'),
        scopeLogs: [
          {
            scope: { name: 'com.anthropic.claude_code.events' },
            logRecords: [
              {
                timeUnixNano: '1795197180004000000',
                body: { stringValue: 'claude_code.api_request' },
                attributes: pairs({
                  'event.name': 'api_request',
                  'session.id': SESSION,
                  model: 'claude-sonnet-4-5',
                  input_tokens: 174,
                  output_tokens: 76,
                  cache_read_tokens: 6994,
                  cache_creation_tokens: 1222,
                  cost_usd: '0.0087927',
                }),
              },
            ],
          },
        ],
      },
    ],
  },
  metrics: {
    resourceMetrics: [
      {
        resource: resource('claude-code'),
        scopeMetrics: [
          {
            scope: { name: 'com.anthropic.claude_code' },
            metrics: [
              {
                name: 'claude_code.token.usage',
                sum: {
                  aggregationTemporality: 1,
                  isMonotonic: true,
                  dataPoints: [
                    {
                      startTimeUnixNano: '1795197179922000000',
                      timeUnixNano: '1795197180004000000',
                      asDouble: 174,
                      attributes: pairs({ 'session.id': SESSION, model: 'claude-sonnet-4-5', type: 'input' }),
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  },
  traces: {
    resourceSpans: [
      {
        resource: resource('my-agent'),
        scopeSpans: [
          {
            scope: { name: 'my-agent' },
            spans: [
              {
                traceId: 'c6878ad3bf428e2011deafaf64f64b21',
                spanId: 'fda74c01c3386377',
                name: 'chat gpt-5',
                startTimeUnixNano: '1795197179922000000',
                endTimeUnixNano: '1795197180004000000',
                attributes: pairs({
                  'gen_ai.conversation.id': SESSION,
                  'gen_ai.operation.name': 'chat',
                  'gen_ai.response.model': 'gpt-5',
                  'gen_ai.usage.input_tokens': 1200,
                  'gen_ai.usage.output_tokens': 340,
                }),
              },
            ],
          },
        ],
      },
    ],
  },
}

export const EXAMPLE_STATUS: TelemetryStatus = {
  agents: [{ agent_harness: 'claude-code', sessions: 2 }],
  channels: [
    {
      agent_harness: 'claude-code',
      version: '2.1.329',
      channel: 'api_request',
      first_seen_at: '2026-11-20T17:53:04.000Z',
      last_seen_at: '2026-11-20T18:20:00.000Z',
      counted: 12,
      repeated: 3,
      late: 0,
      shrunk: 0,
      tokens: 182_400,
    },
  ],
  rejected: [
    {
      reason: 'claude_code.token.usage: missing session.id; set OTEL_METRICS_INCLUDE_SESSION_ID to true',
      records: 4,
      last_seen_at: '2026-11-20T18:20:00.000Z',
    },
  ],
  ignored: [
    {
      name: 'codex.turn.token_usage',
      reason: 'has no session; the log event codex.sse_event is counted instead',
      records: 6,
      last_seen_at: '2026-11-20T18:20:00.000Z',
    },
  ],
  by_email: true,
  pushes: [
    {
      token: { id: 'tok_01a1fa172a0277f3983322718874f2ef', name: 'telemetry', hint: 'Qx7m' },
      requests: 9,
      records: 412,
      last_seen_at: '2026-11-20T18:20:00.000Z',
    },
  ],
  emails: [{ email: 'ada@users.example.com', sessions: 1, last_seen_at: '2026-11-20T18:20:00.000Z' }],
}

export const EXAMPLE_ASSIGNED: TelemetryAssigned = {
  dry_run: true,
  email: 'ada@users.example.com',
  user: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
  sessions: 1,
  entries: 2,
  locked: [{ id: 'ent_01a1fa172a0277f3983322718874f2ef', status: 'billed' }],
  skipped: [],
  complete: true,
}
