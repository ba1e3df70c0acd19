import { afterEach, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import type { Caller } from '../../src/access/caller.ts'
import { ExportLimit, type ExportResponse, streamedResponse } from '../../src/http/exports.ts'
import { RENEW_MS } from '../../src/http/renewal.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { opener, testEngine } from '../support/databases.ts'

const open = opener(testEngine)
const apps: TestApp[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const app of apps.splice(0)) await app.close()
})

const CSV = '/api/v1/token-entries?format=csv'

async function startWith(streamSlowly: () => AsyncGenerator<Uint8Array>): Promise<TestApp> {
  const app = await startApp({ db: { ...(await open()), streamSlowly } })
  apps.push(app)
  return app
}

/** An application whose exports have no end, as long as nothing else is said. */
async function start() {
  const source = { isEndless: true }
  const piece = Buffer.alloc(65_536, 'x')
  async function* pieces() {
    yield Buffer.from('id,cost\r\n')
    while (source.isEndless) yield piece
  }
  const app = await startWith(pieces)
  const boss = await app.person('admin')
  return { app, boss, source, token: await app.token('read', boss) }
}

/** Asks for an export and takes nothing of it. */
async function unread({ url }: TestApp, token: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.pause()
  sockets.push(socket)
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.write(`GET ${CSV} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  return socket
}

async function until<Value>(wanted: Value, ask: () => Promise<Value>): Promise<void> {
  for (;;) {
    if ((await ask()) === wanted) return
    await Bun.sleep(20)
  }
}

test('a person has a limited number of exports at a time, others still get theirs, and finished or aborted ones free their place', async () => {
  const { app, boss, source, token } = await start()
  const statusOf = async (secret: string) => {
    const answer = await fetch(app.url + CSV, { headers: { authorization: `Bearer ${secret}` } })
    await answer.body?.cancel()
    return answer.status
  }
  // One after the other, as often as anybody likes, also without reading what HEAD leaves out.
  source.isEndless = false
  for (let count = 0; count < 5; count += 1) {
    expect((await app.call(`GET ${CSV}`, { token })).text).toBe('id,cost\r\n')
    expect((await app.call(`HEAD ${CSV}`, { token })).status).toBe(200)
  }
  source.isEndless = true
  for (let count = 0; count < 4; count += 1) await unread(app, token)
  await until(429, async () => {
    const status = await statusOf(token)
    // This one may have been served before the last of them, which was then refused.
    if (status !== 429) await unread(app, token)
    return status
  })
  const refused = await app.call(`GET ${CSV}`, { token })
  expect(refused.json).toMatchObject({
    code: 'too_many_exports',
    detail: expect.stringContaining('4 of your exports'),
  })
  expect(refused.headers.get('retry-after')).toBe('20')
  // The same person by another token.
  expect(await statusOf(await app.token('read', boss))).toBe(429)
  const [first, second, third] = await Promise.all(Array.from({ length: 4 }, async () => app.token('read')))
  expect(await statusOf(first!)).toBe(200)
  for (const other of [first, second, third]) for (let count = 0; count < 4; count += 1) await unread(app, other!)
  await until(429, async () => {
    const status = await statusOf(await app.token('read'))
    // An export that is not read ends after 20 s.
    if (status !== 429) for (const other of [token, first, second, third]) await unread(app, other!)
    return status
  })
  for (const socket of sockets.splice(0)) socket.destroy()
  await until(200, () => statusOf(token))
}, 180_000)

test('each application counts its own exports', async () => {
  const request = new Request('http://localhost/export')
  const person = { person: { id: 1 } } as Caller
  const response = () => streamedResponse((async function* () {})(), {}) as ExportResponse
  const [one, other] = [new ExportLimit(), new ExportLimit()]
  const admitTo = (limit: ExportLimit) =>
    limit.admit(response(), request, { caller: person, renew: null, onFailure: () => {} })
  for (let count = 0; count < 4; count += 1) admitTo(one)
  expect(() => admitTo(one)).toThrow('4 of your exports are already running')
  expect(() => admitTo(other)).not.toThrow()
})

test('an export that fails halfway is not complete for its client', async () => {
  const { promise: isReceived, resolve: nowReceived } = Promise.withResolvers<void>()
  async function* failing() {
    yield new TextEncoder().encode('id,cost\r\n')
    await isReceived
    throw new Error('The disk cannot be read.')
  }
  const server = Bun.serve({
    port: 0,
    fetch: () => streamedResponse(failing(), { 'content-type': 'text/csv' }),
    error: () => new Response('failed', { status: 500 }),
  })
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const socket = connect({ host: 'localhost', port: server.port! })
  let received = ''
  socket.on('data', (data) => {
    received += data
    if (received.includes('id,cost')) nowReceived()
  })
  socket.once('close', () => resolve())
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await ended
  expect(received).toContain('id,cost')
  expect(received).not.toEndWith('0\r\n\r\n')
  await expect(fetch(server.url).then((response) => response.text())).rejects.toThrow()
  await server.stop(true)
})

test('the log says why an export ended halfway', async () => {
  async function* failing() {
    yield Buffer.from('id,cost\r\n')
    throw new Error('The process for slow reads ended with SIGKILL.')
  }
  const app = await startWith(failing)
  const token = await app.token('read')
  const headers = { authorization: `Bearer ${token}`, 'x-request-id': 'halfway' }
  const asked = fetch(`${app.url}${CSV}`, { headers, keepalive: false })
  await expect(asked.then((response) => response.text())).rejects.toThrow()
  expect(app.log.filter(({ request_id }) => request_id === 'halfway')).toEqual([
    expect.objectContaining({
      msg: 'request failed',
      path: '/api/v1/token-entries',
      error: expect.objectContaining({ message: 'The process for slow reads ended with SIGKILL.' }),
    }),
  ])
})

test('an export ends when its caller may not have it any more, or sees less', async () => {
  const admin = { person: { id: 1, role: 'admin' } } as Caller
  const encoder = new TextEncoder()
  for (const [renew, error] of [
    [async () => ({ person: { id: 1, role: 'member' } }) as Caller, 'has changed to member'],
    [() => Promise.reject(new Error('revoked')), 'revoked'],
  ] as const) {
    async function* rows() {
      yield encoder.encode('id,cost\r\n')
      // Longer than the time after which the right is looked at again.
      await Bun.sleep(RENEW_MS + 1)
      yield encoder.encode('ent_1,1\r\n')
      yield encoder.encode('ent_2,2\r\n')
    }
    const failures: unknown[] = []
    const response = streamedResponse(rows(), {}) as ExportResponse
    new ExportLimit().admit(response, new Request('http://localhost/export'), {
      caller: admin,
      renew,
      onFailure: (failure) => failures.push(failure),
    })
    const reader = response.body!.getReader()
    let text = ''
    const read = async () => {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        text += new TextDecoder().decode(value)
      }
    }
    expect(await read().catch((failure: Error) => failure.message)).toContain(error)
    expect(text).not.toContain('ent_2')
    expect(failures).toHaveLength(1)
  }
})
