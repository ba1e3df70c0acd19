import { afterEach, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { type StartOptions, startApp, type TestApp } from '../support/app.ts'

const MIB = 1_048_576

let app: TestApp
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await app.close()
})

async function start(options?: StartOptions): Promise<{ token: string }> {
  app = await startApp(options)
  return { token: await app.token('svc') }
}

/** Begins a call whose body does not come, or not all of it. */
async function begin(path: string, token: string, bytes: number, sent = '['): Promise<Socket> {
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${sent}`)
  return socket
}

/** Asks until the answer has the status: when the server has seen what a socket sent, nobody tells. */
async function until(status: number, ask: () => ReturnType<TestApp['call']>) {
  for (;;) {
    const answer = await ask()
    if (answer.status === status) return answer
    await Bun.sleep(10)
  }
}

const me = (token: string) => app.call('GET /api/v1/me', { token })
const batch = (token: string, bytes: number) =>
  app.call('POST /api/v1/token-entries/batch', {
    token,
    body: `[${' '.repeat(bytes)}]`,
    headers: { 'content-type': 'application/json' },
  })

test('past the limit of waiting requests others hear 503 and when to come back, and go on when those are gone', async () => {
  const { token } = await start({ requestLimit: 3 })
  const waiting = [1, 2, 3].map(() => begin('/api/v1/token-entries', token, 100))
  await Promise.all(waiting)
  const refused = await until(503, () => me(token))
  expect([refused.json.code, refused.headers.get('retry-after')]).toEqual(['overloaded', '1'])
  expect(refused.json.detail).toContain('More than 3 requests are pending')
  expect((await app.call('GET /health')).status).toBe(200)
  for (const socket of sockets) socket.destroy()
  expect((await until(200, () => me(token))).status).toBe(200)
})

test('the total size of large bodies is limited, small ones are accepted, and memory is free again after the response', async () => {
  const { token } = await start()
  const almost = `[${' '.repeat(8 * MIB - 2)}`
  // Of those that come at the same time one may be refused, for which another one comes.
  const refused = await until(503, async () => {
    await begin('/api/v1/token-entries/batch', token, 8 * MIB, almost)
    return batch(token, MIB)
  })
  expect([refused.json.code, refused.headers.get('retry-after')]).toEqual(['overloaded', '1'])
  expect(refused.json.detail).toContain('64 MiB of large request bodies')
  // It names no entry.
  expect((await batch(token, 100)).status).toBe(422)
  for (const socket of sockets) socket.destroy()
  expect((await until(422, () => batch(token, 7 * MIB))).status).toBe(422)
  // Answered bodies are held no longer, whatever the answer was.
  for (let count = 0; count < 12; count += 1) {
    expect((await batch(token, 7 * MIB)).status).toBe(422)
    expect(
      (
        await app.call('POST /api/v1/token-entries', {
          token,
          body: `{${' '.repeat(MIB - 100)}`,
          headers: { 'content-type': 'application/json' },
        })
      ).status,
    ).toBe(400)
  }
  expect((await batch(token, 9 * MIB)).status).toBe(413)
}, 180_000)

test('bodies that are declared but not sent do not block others', async () => {
  const { token } = await start()
  for (let count = 0; count < 64; count += 1) await begin('/api/v1/token-entries/batch', token, 8 * MIB)
  await Bun.sleep(50)
  expect((await batch(token, 7 * MIB)).status).toBe(422)
})

test('without a credential a body is limited to the size that signing in needs', async () => {
  await start()
  const signIn = (password: string) =>
    app.call('POST /api/v1/session', { json: { email: 'a@example.com', password }, headers: { origin: app.url } })
  expect((await signIn('x'.repeat(100))).status).toBe(401)
  expect((await signIn('x'.repeat(17 * 1_024))).status).toBe(413)
})

/** What a request in these very words is answered, up to the end of its headers. */
async function raw(...lines: string[]): Promise<string> {
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return new Promise((resolve) => socket.once('data', (data) => resolve(data.toString())))
}

test('what a proxy could read in another way than Tally is refused', async () => {
  const { token } = await start()
  const get = ['GET /api/v1/me HTTP/1.1', `Authorization: Bearer ${token}`]
  expect(await raw(...get, 'Host: a')).toStartWith('HTTP/1.1 200')
  const post = ['POST /api/v1/token-entries/batch HTTP/1.1', 'Host: a', `Authorization: Bearer ${token}`]
  for (const request of [
    [...get, 'Host: a', 'Host: b'],
    [...get, 'Host: a', 'Accept: */*', 'Host: a'],
    [...get, 'Host: a, b'],
    [...get],
    ['GET / HTTP/1.1', 'Host: a', 'Host: b'],
    [...post, 'Content-Length: 2', 'Content-Length: 2'],
    [...post, 'Content-Length: 2', 'Content-Length: 5'],
    [...post, 'Content-Length: 2', 'Transfer-Encoding: chunked'],
    [...post, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    [...post, 'Transfer-Encoding: identity, chunked'],
    [...post, 'Content-Length: +2'],
  ]) {
    expect([request, (await raw(...request)).split('\r\n')[0]]).toEqual([request, 'HTTP/1.1 400 Bad Request'])
  }
  // A length that is no number must not spoil what is counted.
  expect((await batch(token, 7 * MIB)).status).toBe(422)
})

test('headers that are too large are refused before anything is read', async () => {
  await start()
  const answer = await fetch(`${app.url}/health`, { headers: { 'x-long': 'x'.repeat(64 * 1_024) } })
  expect(answer.status).toBe(431)
})

test('at the level debug every call leaves a line with its request id, and nothing that it said', async () => {
  const { token } = await start({ logLevel: 'debug' })
  await app.call('GET /api/v1/token-entries?summary=a-secret-text', { token, headers: { 'x-request-id': 'mine-1' } })
  await app.call('GET /api/v1/nowhere/a-secret-text', { token, headers: { 'x-request-id': 'mine-2' } })
  await app.call('GET /api/v1/me', { token, headers: { 'x-request-id': 'mine-3' } })
  const answered = () =>
    app.log.filter(({ msg, request_id }) => msg === 'request completed' && `${request_id}`.startsWith('mine'))
  while (answered().length < 3) await Bun.sleep(10)
  const line = { level: 20, method: 'GET', ms: expect.any(Number) }
  expect(answered()).toEqual([
    expect.objectContaining({ ...line, request_id: 'mine-1', route: '/api/v1/token-entries' }),
    expect.objectContaining({ ...line, request_id: 'mine-2', route: 'none', status: 404 }),
    expect.objectContaining({ ...line, request_id: 'mine-3', route: '/api/v1/me', status: 200 }),
  ])
  expect(JSON.stringify(answered())).not.toContain('secret')
})
