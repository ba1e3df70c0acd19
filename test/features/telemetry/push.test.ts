import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { type Call, startApp, type TestApp } from '../../support/app.ts'
import { fromProtobuf, jsonCaptures, toProtobuf } from '../../support/otlp.ts'
import { until } from '../../support/processes.ts'

const MIB = 1_048_576

let app: TestApp
let organization: string
let service: string

beforeAll(async () => {
  app = await startApp()
  organization = await app.token('org')
  service = await app.token('svc')
})
afterAll(() => app.close())

const push = (kind: string, call: Call) =>
  app.call(`POST /api/v1/telemetry/v1/${kind}`, { token: organization, ...call })

const JSON_TYPE = { 'content-type': 'application/json' }
const PROTOBUF_TYPE = { 'content-type': 'application/x-protobuf' }

/** Answers in Protocol Buffers are bytes, which the checked calls read as text. */
async function pushBytes(kind: string, body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.url}/api/v1/telemetry/v1/${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${organization}`, ...PROTOBUF_TYPE, ...headers },
    body,
  })
  return { status: response.status, headers: response.headers, bytes: await response.bytes() }
}

/** A gauge of the name of a sum, of which nothing can be counted. */
const GAUGE = JSON.stringify({
  resourceMetrics: [
    {
      scopeMetrics: [
        { metrics: [{ name: 'claude_code.token.usage', gauge: { dataPoints: [{ asInt: 1 }, { asInt: 2 }] } }] },
      ],
    },
  ],
})

describe('an export is answered in its own encoding', () => {
  test('by an empty object, or no bytes at all, where all was taken', async () => {
    const all = jsonCaptures('agents')
    for (const { kind, text } of all.slice(0, 6)) {
      const json = await push(kind, { body: text, headers: JSON_TYPE })
      expect([json.status, json.headers.get('content-type'), json.text]).toEqual([200, 'application/json', '{}'])
      const { status, headers, bytes } = await pushBytes(kind, toProtobuf(kind, text))
      expect([status, headers.get('content-type'), bytes.length]).toEqual([200, 'application/x-protobuf', 0])
    }
  })

  test('of nothing, too', async () => {
    for (const kind of ['logs', 'metrics', 'traces']) {
      expect(await push(kind, { body: '{}', headers: JSON_TYPE })).toMatchObject({ status: 200, text: '{}' })
      expect((await pushBytes(kind, '')).status).toBe(200)
    }
  })

  test('with how many records could not be used, and why', async () => {
    const message = 'claude_code.token.usage is not a sum.'
    const json = await push('metrics', { body: GAUGE, headers: JSON_TYPE })
    expect(json.status).toBe(200)
    expect(json.json).toEqual({ partialSuccess: { rejectedDataPoints: 2, errorMessage: message } })
    const { status, bytes } = await pushBytes('metrics', toProtobuf('metrics', GAUGE))
    expect(status).toBe(200)
    expect(fromProtobuf('Answer', bytes)).toEqual({ partialSuccess: { rejected: 2, errorMessage: message } })
  })
})

describe('a body may be', () => {
  const known = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ eventName: 'one' }] }] }] })

  test('compressed, in both encodings', async () => {
    const gzip = { 'content-encoding': 'gzip' }
    const json = await push('logs', { body: gzipSync(known), headers: { ...JSON_TYPE, ...gzip } })
    expect([json.status, json.text]).toEqual([200, '{}'])
    expect((await pushBytes('logs', gzipSync(toProtobuf('logs', known)), gzip)).status).toBe(200)
  })

  test('sent without saying how long it is', async () => {
    const parts = known.match(/.{1,20}/g)!
    const body = new ReadableStream({
      async pull(controller) {
        const part = parts.shift()
        if (part === undefined) controller.close()
        else controller.enqueue(new TextEncoder().encode(part))
      },
    })
    expect(await push('logs', { body, headers: JSON_TYPE })).toMatchObject({ status: 200, text: '{}' })
  })

  test('of a content type with parameters, and without any compression by name', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8', 'content-encoding': 'identity' }
    expect((await push('logs', { body: known, headers })).status).toBe(200)
  })
})

describe('a refusal is a google.rpc.Status in the encoding that was sent', () => {
  const large = new Uint8Array(64 * MIB + 1)
  const bomb = Buffer.concat(Array.from({ length: 65 }, () => gzipSync(new Uint8Array(MIB))))
  const gzip = { 'content-encoding': 'gzip' }
  const malformed = new Uint8Array([10, 200, 1])
  const refusals: [what: string, call: () => Call | Promise<Call>, status: number, code: number, said: RegExp][] = [
    ['no credential', () => ({ token: undefined, body: malformed }), 401, 16, /Send a token/],
    [
      'a token that is unknown',
      () => ({ token: `${organization.slice(0, -6)}000000`, body: malformed }),
      401,
      16,
      /token/,
    ],
    ['a read token', async () => ({ token: await app.token('read'), body: malformed }), 403, 7, /organization token/],
    [
      'a person',
      async () => ({ token: undefined, session: await app.session('admin'), body: malformed }),
      403,
      7,
      /not a signed-in person/,
    ],
    [
      'bytes that are not what they should be',
      () => ({ body: malformed }),
      400,
      3,
      /not (valid UTF-8|the Protocol Buffers)/,
    ],
    ['gzip that is none', () => ({ body: malformed, headers: gzip }), 400, 3, /gzip/],
    ['another compression', () => ({ body: malformed, headers: { 'content-encoding': 'deflate' } }), 415, 3, /gzip/],
    ['a body that is too large', () => ({ body: large }), 413, 3, /16 MiB/],
    ['a body that decompresses to what is too large', () => ({ body: bomb, headers: gzip }), 413, 3, /16 MiB/],
  ]

  test.each(refusals)('for %s', async (_what, call, status, code, said) => {
    const { headers, ...rest } = await call()
    const json = await push('logs', { ...rest, headers: { ...headers, ...JSON_TYPE } })
    expect([json.status, json.headers.get('content-type')]).toEqual([status, 'application/json'])
    expect(json.json).toEqual({ code, message: expect.stringMatching(said) })

    const token = 'token' in rest ? rest.token : organization
    const response = await fetch(`${app.url}/api/v1/telemetry/v1/logs`, {
      method: 'POST',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(rest.session !== undefined && { cookie: rest.session, origin: app.url }),
        ...headers,
        ...PROTOBUF_TYPE,
      },
      body: rest.body!,
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/x-protobuf'])
    expect(fromProtobuf('RpcStatus', await response.bytes())).toEqual({ code, message: expect.stringMatching(said) })
    expect(response.headers.get('x-request-id')).toBeTruthy()
    expect(response.headers.has('www-authenticate')).toBe(status === 401)
  })

  test('and JSON where it was neither', async () => {
    for (const type of ['text/plain', 'application/protobuf', 'application/x-www-form-urlencoded']) {
      const answer = await push('logs', { body: '{}', headers: { 'content-type': type } })
      expect([answer.status, answer.json.code]).toEqual([415, 3])
      expect(answer.json.message).toContain('application/x-protobuf')
    }
  })

  test('also where there is no such export', async () => {
    const { status, bytes } = await pushBytes('profiles', 'x')
    expect([status, fromProtobuf('RpcStatus', bytes).code]).toEqual([404, 5])
  })

  test('while what is no export gets a problem as everywhere', async () => {
    const answer = await app.call('GET /api/v1/telemetry/v1/logs', { token: organization })
    expect([answer.status, answer.json.code, answer.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'OPTIONS, POST',
    ])
  })
})

test('what a Collector puts together is counted whole, however much it is', async () => {
  const sessions = ['collected-1', 'collected-2', 'collected-3']
  const record = (call: number) => ({
    // Of the last two nothing can be counted: the clock of one is wrong, and the figures of the other.
    timeUnixNano: String(BigInt(Date.now() + (call === 1_500 ? 3 * 86_400_000 : call - 3_600_000)) * 1_000_000n),
    attributes: Object.entries({
      'event.name': 'api_request',
      'session.id': sessions[call % sessions.length]!,
      model: 'claude-sonnet-4-5',
      request_id: `collected-${call}`,
      input_tokens: call === 1_501 ? '-1' : '1',
      output_tokens: '10',
    }).map(([key, stringValue]) => ({ key, value: { stringValue } })),
  })
  const logRecords = Array.from({ length: 1_502 }, (_, call) => record(call))
  const scope = { name: 'com.anthropic.claude_code.events' }
  const json = { resourceLogs: [{ scopeLogs: [{ scope, logRecords }] }] }
  const answer = await push('logs', { json })
  expect(answer.json).toMatchObject({ partialSuccess: { rejectedLogRecords: 2 } })
  const read = await app.token('read')
  for (const session of sessions) {
    const entries = await app.call(`GET /api/v1/token-entries?session_id=${session}`, { token: read })
    expect(entries.json.data).toMatchObject([{ tokens: { input: 500, output: 5_000 }, requests: 500 }])
  }
})

test('credentials are checked before any of the body is there', async () => {
  const { hostname, port } = new URL(app.url)
  const answered = (token: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        const head = `POST /api/v1/telemetry/v1/logs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
        socket.write(`${head}Authorization: Bearer ${token}\r\nContent-Length: 1000\r\n\r\n`)
      })
      socket.on('error', reject)
      socket.once('data', (data) => {
        resolve(data.toString().split('\r\n')[0]!)
        socket.destroy()
      })
    })
  expect(await answered('tally_org_unknown')).toContain('401')
  expect(await answered(await app.token('read'))).toContain('403')
})

test('a sender that goes in the middle of a body is no failure of the server', async () => {
  const { hostname, port } = new URL(app.url)
  const before = app.log.length
  /** Goes after a while, before which the server has read the beginning on an idle machine. */
  const leave = (afterMs: number) =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        const head = `POST /api/v1/telemetry/v1/logs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
        socket.write(`${head}Authorization: Bearer ${organization}\r\nContent-Length: 1000000\r\n\r\n{"resource`)
        setTimeout(() => socket.destroy(), afterMs)
      })
      socket.on('close', () => resolve())
    })
  for (let afterMs = 100; app.log.length === before; afterMs *= 2) {
    await leave(afterMs)
    await until(() => app.log.length > before, 5_000)
  }
  const logged = app.log.slice(before)
  expect(logged).toMatchObject(logged.map(() => ({ status: 400, code: 'bad_request' })))
  expect((await push('logs', { body: '{}', headers: JSON_TYPE })).status).toBe(200)
})

test('a service token may push as well, and tokens that do are known to be in use', async () => {
  expect((await push('logs', { token: service, body: '{}', headers: JSON_TYPE })).status).toBe(200)
  await app.services.people.flushLastUsed()
  const { json } = await app.call('GET /api/v1/tokens', { session: await app.session('admin') })
  const used = json.data.filter(({ last_used_at }: { last_used_at: string | null }) => last_used_at !== null)
  expect(used.map(({ kind }: { kind: string }) => kind)).toEqual(expect.arrayContaining(['org', 'svc']))
})

test('nothing that a body holds is in the log, and the log says why it was refused', async () => {
  const before = app.log.length
  const secret = 'zanzibar'
  const bodies = [
    `{"${secret}": `,
    `{"resourceLogs": "${secret}"}`,
    `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"${secret}","eventName":"gen_ai.client.inference.operation.details"}]}]}]}`,
    JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: secret } }] }] }] }),
  ]
  for (const body of bodies) await push('logs', { body, headers: JSON_TYPE })
  const log = app.log.slice(before)
  expect(log.map(({ status }) => status)).toEqual([400, 400, 400])
  expect(JSON.stringify(log)).not.toContain(secret)
})
