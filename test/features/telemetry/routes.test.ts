import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { contentOf } from '../../support/databases.ts'
import { type Capture, capturesIn } from '../../support/telemetry.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp({ clock: { now: () => Date.UTC(2026, 10, 20, 19, 30) } })
})
afterAll(() => app.close())

const TYPES = { json: 'application/json', protobuf: 'application/x-protobuf' }

async function push({ kind, encoding, bytes }: Pick<Capture, 'kind' | 'encoding' | 'bytes'>, token: string) {
  const response = await fetch(`${app.url}/api/v1/telemetry/v1/${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': TYPES[encoding] },
    body: Buffer.from(bytes),
  })
  return { status: response.status, text: await response.text() }
}

const pushJson = (kind: Capture['kind'], value: unknown, token: string) =>
  push({ kind, encoding: 'json', bytes: new TextEncoder().encode(JSON.stringify(value)) }, token)

/** A body of logs with one call of Claude Code. */
const oneCall = (attributes: Record<string, unknown>) => ({
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'claude-code' } }] },
      scopeLogs: [
        {
          scope: { name: 'com.anthropic.claude_code.events' },
          logRecords: [
            {
              timeUnixNano: '1795197179924000000',
              attributes: Object.entries({
                'event.name': 'api_request',
                model: 'claude-sonnet-5',
                input_tokens: '10',
                output_tokens: '5',
                ...attributes,
              }).map(([key, value]) => ({ key, value: { stringValue: String(value) } })),
            },
          ],
        },
      ],
    },
  ],
})

/** The names of attributes that may hold what people wrote, where they work and as whom. */
const KEPT = new Set(['event.name', 'event.kind', 'event.timestamp', 'gen_ai.operation.name'])

describe('of what agents send', () => {
  test('nothing that people wrote, no path and no host is stored or logged', async () => {
    const token = await app.token('org')
    const { signalFilter } = await import('../../../src/features/telemetry/channels/index.ts')
    let marks = 0
    const mark = () => {
      marks += 1
      return `MARKER ${marks} /home/MARKER/prompt`
    }
    /** Puts a mark in every text that no reader is to look at, and in every body. */
    const marked = (value: unknown, key?: string): unknown => {
      if (Array.isArray(value)) return value.map((each) => marked(each, key))
      if (typeof value !== 'object' || value === null) return value
      const { key: name, value: held, ...rest } = value as { key?: string; value?: object }
      if (name !== undefined && held !== undefined) {
        const kept = KEPT.has(name) || signalFilter.attribute(name) || signalFilter.resourceAttribute(name)
        if (kept) return value
        return { key: name, value: { stringValue: mark() } }
      }
      return Object.fromEntries(
        Object.entries({ ...rest, ...(held && { value: held }), ...(name !== undefined && { key: name }) }).map(
          ([field, inner]) => [field, field === 'body' ? { stringValue: mark() } : marked(inner, field)],
        ),
      )
    }
    for (const { kind, bytes } of [...capturesIn('agents'), ...capturesIn('cases')]) {
      const body = marked(JSON.parse(new TextDecoder().decode(bytes)))
      expect((await pushJson(kind, body, token)).status).toBe(200)
    }
    // Also where it looks like something to keep.
    const sneaky = oneCall({
      'session.id': 's-marked',
      prompt: 'MARKER',
      'user.email': 'MARKER@example.com',
      cwd: '/MARKER',
    })
    sneaky.resourceLogs[0]!.resource.attributes.push(
      ...['prompt', 'process.command_args', 'host.name', 'home', 'x.path', 'notes'].map((key) => ({
        key,
        value: { stringValue: key === 'notes' ? '/home/dev/MARKER' : 'MARKER' },
      })),
    )
    expect((await pushJson('logs', sneaky, token)).status).toBe(200)
    await app.services.telemetry.tidy()
    expect(marks).toBeGreaterThan(1000)
    const { data } = (await app.call('GET /api/v1/token-entries', { session: await app.session('admin') })).json
    expect(data.length).toBeGreaterThan(10)
    for (const [name, bytes] of Object.entries(await contentOf(app.location))) {
      expect([name, bytes.includes('MARKER'), bytes.includes('marker')]).toEqual([name, false, false])
    }
    expect(JSON.stringify(app.log)).not.toMatch(/marker/i)
  })
})

describe('the state of telemetry', () => {
  test('says what is counted, what is not and why, and who pushes', async () => {
    const fresh = await startApp()
    try {
      const session = await fresh.session('admin')
      const status = async () => (await fresh.call('GET /api/v1/telemetry/status', { session })).json
      expect(await status()).toEqual({
        agents: [],
        channels: [],
        rejected: [],
        ignored: [],
        by_email: false,
        pushes: [],
        emails: [],
      })
      const token = await fresh.token('org')
      const send = (kind: string, json: unknown) => fresh.call(`POST /api/v1/telemetry/v1/${kind}`, { token, json })
      await send('logs', oneCall({ 'session.id': 's-1', 'app.version': '9', request_id: 'r' }))
      await send('logs', oneCall({ 'session.id': 's-1', request_id: 'r' }))
      const refused = await send('logs', oneCall({ request_id: 'r-2' }))
      expect(refused.json).toEqual({
        partialSuccess: { rejectedLogRecords: 1, errorMessage: 'api_request: missing session.id' },
      })
      for (const { kind, bytes } of capturesIn('agents/codex')
        .filter(({ kind }) => kind === 'metrics')
        .slice(0, 1)) {
        await send(kind, JSON.parse(new TextDecoder().decode(bytes)))
      }
      let told = await status()
      // On a busy machine counting takes long, and its result is shown for some seconds.
      while (told.agents.length === 0) {
        await Bun.sleep(100)
        told = await status()
      }
      expect(told.agents).toEqual([{ agent_harness: 'claude-code', sessions: 1 }])
      expect(told.channels).toMatchObject([
        {
          agent_harness: 'claude-code',
          version: null,
          channel: 'api_request',
          counted: 1,
          repeated: 1,
          late: 0,
          shrunk: 0,
          tokens: 15,
        },
      ])
      expect(told.rejected).toMatchObject([{ reason: 'api_request: missing session.id', records: 1 }])
      expect(told.ignored[0]).toMatchObject({
        name: 'codex.turn.token_usage',
        reason: 'has no session; the log event codex.sse_event is counted instead',
        records: 6,
      })
      expect(told.pushes).toMatchObject([{ requests: 4, records: 3 + 172 }])
    } finally {
      await fresh.close()
    }
  })

  test('tells billing nothing of tokens and people', async () => {
    const { json } = await app.call('GET /api/v1/telemetry/status', { session: await app.session('billing') })
    expect(Object.keys(json)).toEqual(['agents', 'channels', 'rejected', 'ignored', 'by_email'])
    for (const call of [{ session: await app.session('member') }, { token: await app.token('org') }]) {
      expect((await app.call('GET /api/v1/telemetry/status', call)).status).toBe(403)
    }
  })

  test('assigns what was pushed under an address to a person, first as a trial', async () => {
    const session = await app.session('admin')
    const ada = await app.person('member')
    await app.call('PATCH /api/v1/settings', { session, json: { telemetry_by_email: true } })
    const token = await app.token('org')
    await pushJson('logs', oneCall({ 'session.id': 's-mail', 'user.email': 'who@example.com' }), token)
    const assign = async (json: object) => app.call('POST /api/v1/telemetry/assign', { session, json })
    const asked = { email: 'who@example.com', user: ada }
    expect((await assign({ ...asked, dry_run: true })).json).toMatchObject({ dry_run: true, sessions: 1, entries: 1 })
    expect((await assign(asked)).json).toMatchObject({
      dry_run: false,
      sessions: 1,
      entries: 1,
      locked: [],
      skipped: [],
    })
    const { data } = (await app.call('GET /api/v1/token-entries?session_id=s-mail', { session })).json
    expect(data).toMatchObject([{ manager_by: 'email' }])
    const mine = (await app.call(`GET /api/v1/token-entries?agent_manager=${ada}`, { session })).json
    expect(mine.data).toHaveLength(1)
    expect((await assign({ email: 'no address', user: ada })).json.errors[0].pointer).toBe('/email')
    expect((await assign({ ...asked, user: 'nobody@example.com' })).status).toBe(404)
    expect(
      (await app.call('POST /api/v1/telemetry/assign', { session: await app.session('billing'), json: asked })).status,
    ).toBe(403)
  })
})

test('further e-mails of a person are listed and replaced, by admins', async () => {
  const session = await app.session('admin')
  const [ada, grace] = [await app.person('member'), await app.person('member')]
  const path = `/api/v1/users/${ada}/emails`
  const set = (emails: unknown, to = path) => app.call(`PUT ${to}`, { session, json: { emails } })
  expect((await set(['B@users.example.com', 'a@users.example.com'])).json).toEqual({
    emails: ['a@users.example.com', 'b@users.example.com'],
  })
  expect((await app.call(`GET ${path}`, { session })).json.emails).toHaveLength(2)
  expect((await set(['a@users.example.com'], `/api/v1/users/${grace}/emails`)).json.code).toBe('already_exists')
  expect((await set(['not one'])).json.errors).toMatchObject([{ pointer: '/emails/0' }])
  expect((await set(Array.from({ length: 21 }, (_, index) => `x${index}@example.com`))).status).toBe(422)
  expect((await set([])).json).toEqual({ emails: [] })
  expect((await app.call(`GET ${path}`, { session: await app.session('billing') })).status).toBe(403)
})

test('an exporter with another path learns the right one, in the encoding that it understands', async () => {
  const token = await app.token('svc', await app.person())
  const paths = ['/v1/logs', '/v1/traces', '/telemetry/v1/metrics', '/api/v1/telemetry', '/api/v1/telemetry/v1']
  for (const path of [...paths, '/api/v1/telemetry/v1/v1/logs']) {
    const headers = { 'content-type': TYPES.json, authorization: `Bearer ${token}` }
    const response = await fetch(app.url + path, { method: 'POST', headers, body: '{}' })
    const { message } = (await response.json()) as { message: string }
    expect([path, response.status]).toEqual([path, 404])
    expect(message).toContain('set OTEL_EXPORTER_OTLP_ENDPOINT to the URL of this server with /api/v1/telemetry')
  }
  const other = await fetch(`${app.url}/api/v1/nowhere`, { method: 'POST' })
  expect(await other.text()).not.toContain('OTEL')
})
