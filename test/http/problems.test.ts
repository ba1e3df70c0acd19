import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia, t } from 'elysia'
import pino from 'pino'
import { Problem } from '../../src/errors.ts'
import { requests } from '../../src/http/requests.ts'
import { sessionCookie } from '../../src/http/session-cookie.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
let token: string
let read: string
beforeAll(async () => {
  app = await startApp()
  const user = await app.person()
  token = await app.token('svc', user)
  read = await app.token('read', user)
})
afterAll(() => app.close())

const JSON_TYPE = { 'content-type': 'application/json' }
const REPORT = 'POST /api/v1/token-entries'
const BATCH = 'POST /api/v1/token-entries/batch'

/** What the server answers to these very bytes, which no client would send. */
async function answerTo(request: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let answer = ''
  await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(app.url).port),
    socket: {
      open: (socket) => void socket.write(request),
      data: (_, bytes) => {
        answer += bytes.toString()
      },
      close: () => resolve(answer),
    },
  })
  return promise
}

describe('an address', () => {
  test('that does not exist is 404, below /api/v1 only for who has a credential', async () => {
    expect((await app.call('GET /nothing')).json.code).toBe('not_found')
    for (const path of ['/api/v1', '/api/v1/', '/api/v1/nothing', '/api/v1/token-entries/a/b/c', '/api/v1/health']) {
      expect([path, (await app.call(`GET ${path}`)).status]).toEqual([path, 401])
      expect([path, (await app.call(`GET ${path}`, { token })).status]).toEqual([path, 404])
    }
  })

  test('is found by no other spelling, so that none slips by the check of credentials', async () => {
    for (const path of [
      '//api/v1/me',
      '/api//v1/me',
      '/API/v1/me',
      '/api/v1%2fme',
      '/%61pi/v1/me',
      '/./api/v1/me',
      '/x/../api/v1/me',
    ]) {
      const answer = await answerTo(`GET ${path} HTTP/1.1\r\nHost: tally\r\nConnection: close\r\n\r\n`)
      expect([path, answer]).toEqual([path, expect.stringMatching(/^HTTP\/1.1 40[14] /)])
    }
  })

  test('answers 405 and the methods that it has to any other', async () => {
    const refused = [
      ['DELETE /api/v1/token-entries', 'GET, HEAD, OPTIONS, POST'],
      ['PUT /api/v1/setup', 'OPTIONS, POST'],
      ['DELETE /api/v1/token-entries/batch', 'OPTIONS, POST'],
      ['POST /health', 'GET, HEAD, OPTIONS'],
      ['DELETE /docs/api', 'GET, HEAD, OPTIONS'],
    ]
    for (const [call, allowed] of refused) {
      const { status, json, headers } = await app.call(call!, { token })
      expect([call, status, json.code, headers.get('allow')]).toEqual([call, 405, 'method_not_allowed', allowed])
    }
    expect((await app.call('DELETE /api/v1/token-entries')).status).toBe(401)
    // Signing in needs no credential, and so its address answers the same to everyone; signing out does.
    expect((await app.call('PUT /api/v1/session')).headers.get('allow')).toBe('DELETE, OPTIONS, POST')
    expect((await app.call('OPTIONS /api/v1/session')).status).toBe(204)
    expect((await app.call('DELETE /api/v1/session')).status).toBe(401)
  })

  test('answers OPTIONS with the methods that it has', async () => {
    for (const [path, allowed] of [
      ['/api/v1/me', 'GET, HEAD, OPTIONS, PATCH'],
      ['/api/v1/token-entries/batch', 'OPTIONS, POST'],
      ['/health', 'GET, HEAD, OPTIONS'],
    ]) {
      for (const credential of [{ token }, {}]) {
        const { status, text, headers } = await app.call(`OPTIONS ${path}`, credential)
        expect([path, status, text, headers.get('allow')]).toEqual([path, 204, '', allowed!])
      }
    }
    expect((await app.call('OPTIONS /api/v1/nothing', { token })).status).toBe(404)
  })

  test('answers HEAD like GET, without the body', async () => {
    for (const [path, as] of [['/api/v1/me', read], ['/health'], ['/api/v1/openapi.json'], ['/docs/api']]) {
      const { status, text, headers } = await app.call(`HEAD ${path}`, { token: as })
      expect([path, status, text]).toEqual([path, 200, ''])
      expect(Number(headers.get('content-length'))).toBeGreaterThan(10)
    }
    expect((await app.call('HEAD /api/v1/me')).status).toBe(401)
  })

  test('may be of thousands of characters, and is then simply not found', async () => {
    expect((await app.call(`GET /api/v1/${'a'.repeat(8_000)}`, { token })).status).toBe(404)
    expect((await app.call(`GET /api/v1/token-entries/${'a'.repeat(8_000)}`, { token: read })).status).toBe(404)
  })

  test('with a broken percent-encoding is not found either', async () => {
    for (const id of ['%E0%A4%A', 'a%FFb', '%00', '..%2f..%2fme']) {
      expect([id, (await app.call(`GET /api/v1/token-entries/${id}`, { token: read })).status]).toEqual([id, 404])
    }
  })
})

describe('a query', () => {
  test('is refused with every issue that it has', async () => {
    const { status, json } = await app.call('GET /api/v1/token-entries?limitt=5&modl=a&__proto__=1', { token: read })
    expect(status).toBe(422)
    expect(
      json.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`).sort(),
    ).toEqual(['/query/__proto__ unknown_field', '/query/limitt unknown_field', '/query/modl unknown_field'])
  })
})

describe('headers', () => {
  test('of more than 16 KiB are cut off with a bare 431, the only answer without a request id', async () => {
    const answer = await answerTo(`GET /health HTTP/1.1\r\nHost: tally\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`)
    expect(answer).toStartWith('HTTP/1.1 431 ')
    expect((await app.call('GET /health', { headers: { 'x-big': 'a'.repeat(12_000) } })).status).toBe(200)
  })

  test('name the call: an id that is plain and short is kept, any other replaced', async () => {
    const kept = ['a', 'deploy-42', 'trace:00-4bf92f/1_2.3', 'x'.repeat(128)]
    for (const id of kept) {
      const { headers, json } = await app.call('GET /api/v1/me', { headers: { 'x-request-id': id } })
      expect([headers.get('x-request-id'), json.request_id]).toEqual([id, id])
    }
    for (const id of ['', 'two words', '<b>', 'x'.repeat(129), '"quoted"', 'ä']) {
      const { headers, json } = await app.call('GET /api/v1/me', { headers: { 'x-request-id': encodeLatin1(id) } })
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(json.request_id).toBe(headers.get('x-request-id'))
    }
  })

  test('that say the body is compressed are refused, since it is read as it is', async () => {
    const { status, json } = await app.call(REPORT, {
      token,
      body: Bun.gzipSync('{}'),
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    })
    expect([status, json.code]).toEqual([415, 'unsupported_media_type'])
  })
})

describe('a body', () => {
  const chunked = (megabytes: number) =>
    new ReadableStream({
      async pull(controller) {
        if (megabytes-- <= 0) controller.close()
        else controller.enqueue(new Uint8Array(1_048_576).fill(0x20))
      },
    })

  test('that is too large is refused however it is sent, and the next call is answered', async () => {
    for (const [call, body] of [
      [REPORT, chunked(5)],
      [REPORT, ' '.repeat(5_000_000)],
      [BATCH, chunked(12)],
      [BATCH, ' '.repeat(9_000_000)],
    ] as const) {
      const { status, json } = await app.call(call, { token, body, headers: JSON_TYPE })
      expect([status, json.code]).toEqual([413, 'body_too_large'])
    }
    expect((await app.call('GET /api/v1/me', { token })).status).toBe(200)
  })

  test('is not read from a caller without a credential, or with the wrong one', async () => {
    const bodies = [chunked(5), ' '.repeat(5_000_000), '{', new Uint8Array([0xff])]
    for (const body of bodies) expect((await app.call(REPORT, { body, headers: JSON_TYPE })).status).toBe(401)
    for (const body of ['{', 'null', new Uint8Array([0xff]), ' '.repeat(5_000_000)]) {
      expect((await app.call(REPORT, { token: read, body, headers: JSON_TYPE })).status).toBe(403)
    }
    expect(
      (await app.call(REPORT, { token: read, body: 'a=1', headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(403)
  })

  test('with a field of the prototype is refused like any unknown field', async () => {
    const body = '{"__proto__": {"admin": true}, "constructor": 1, "toString": 2}'
    const { status, json } = await app.call(REPORT, { token, body, headers: JSON_TYPE })
    expect(status).toBe(422)
    const pointers = json.errors.map(({ pointer }: { pointer: string }) => pointer)
    expect(pointers).toEqual(expect.arrayContaining(['/__proto__', '/constructor', '/toString']))
  })

  test('that is nested a hundred thousand times is refused, not followed', async () => {
    const deep = `${'['.repeat(100_000)}"\\ud83d\\ude00"${']'.repeat(100_000)}`
    const { status } = await app.call(REPORT, { token, body: deep, headers: JSON_TYPE })
    expect([400, 422]).toContain(status)
    expect((await app.call(BATCH, { token, body: `[${deep}]`, headers: JSON_TYPE })).status).toBeLessThan(500)
  })
})

describe('a problem', () => {
  test('repeats nothing of the request, and neither does the log', async () => {
    const secret = 'correct-horse-battery'
    const report = { agent_harness: secret, tokens: { input: secret }, model: { [secret]: secret } }
    const { text } = await app.call(`POST /api/v1/token-entries?x=${secret}`, { token, json: report })
    // The name of an unknown field is the one thing that has to be told.
    expect(text).not.toContain(secret)
    expect(text).not.toMatch(/anyOf|"properties"|"type":"object"|expected/)
    expect(JSON.stringify(app.log)).not.toContain(secret)
    expect(JSON.stringify(app.log)).not.toContain(token)
  })

  test('is one line of the log, under its request id', async () => {
    const { headers } = await app.call('GET /api/v1/token-entries/none', { token: read })
    const lines = app.log.filter(({ request_id }) => request_id === headers.get('x-request-id'))
    expect(lines).toEqual([
      expect.objectContaining({
        method: 'GET',
        path: '/api/v1/token-entries/none',
        status: 404,
        code: 'not_found',
        msg: 'request rejected',
      }),
    ])
  })

  test('has a page at its type', async () => {
    const { json } = await app.call('GET /api/v1/me')
    const page = await app.call(`GET ${json.type}`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.text).toContain(json.title)
  })
})

/** Routes that fail in ways that Tally's own should not: only what all routes share is under test. */
describe('whatever a route throws', () => {
  const log: Record<string, unknown>[] = []
  const logger = pino({}, { write: (line: string) => void log.push(JSON.parse(line)) })
  const failing = new Elysia({ normalize: false })
    .use(
      requests({
        people: nobody(),
        cookie: sessionCookie(undefined),
        addressOf: () => '::1',
        publicUrl: () => undefined,
        logger,
        routes: () => [],
      }),
    )
    .get('/unknown', () => {
      throw Object.assign(new Error('Failed query: select 1\nparams: hunter2'), {
        cause: new Error('disk I/O error\nparams: hunter2'),
      })
    })
    .get('/no-error', () => {
      throw 'just text'
    })
    .get('/busy', () => {
      throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
    })
    .get('/problem', async () => {
      throw new Problem('last_admin', 'Make another person an admin first.')
    })
    .get('/answer', () => ({ number: 'hunter2' }) as never, { response: t.Object({ number: t.Number() }) })
  const call = (path: string) => failing.handle(new Request(`http://localhost${path}`))

  test('is a 500 without detail, and its reason is in the log without parameters', async () => {
    for (const path of ['/unknown', '/no-error', '/answer']) {
      const response = await call(path)
      const body = (await response.json()) as { code: string; request_id: string; detail: string }
      expect([path, response.status, body.code]).toEqual([path, 500, 'internal_error'])
      expect(body.detail).not.toMatch(/disk|query|hunter2/)
      expect(log.at(-1)).toMatchObject({ level: 50, msg: 'request failed', request_id: body.request_id })
    }
    expect(JSON.stringify(log)).toContain('disk I/O error')
    expect(JSON.stringify(log)).not.toContain('hunter2')
  })

  test('is a 503 with Retry-After if the database is busy', async () => {
    const response = await call('/busy')
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2'])
  })

  test('is the problem that was thrown', async () => {
    const response = await call('/problem')
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toEqual({
      type: '/problems/last_admin',
      title: 'Last admin',
      status: 409,
      detail: 'Make another person an admin first.',
      code: 'last_admin',
      request_id: response.headers.get('x-request-id'),
    })
  })
})

function nobody() {
  const notAsked = () => Promise.reject(new Error('not asked'))
  return { authenticate: notAsked, authenticateSession: notAsked }
}

/** Header values are bytes; fetch refuses characters above U+00FF. */
function encodeLatin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}
