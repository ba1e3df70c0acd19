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

/** Begins a call whose body does not come. */
async function begin(path: string, token: string, bytes: number): Promise<Socket> {
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
  socket.write(`${head.join('\r\n')}\r\n\r\n[`)
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
  expect(refused.json.detail).toContain('More than 3 requests wait')
  expect((await app.call('GET /health')).status).toBe(200)
  for (const socket of sockets) socket.destroy()
  expect((await until(200, () => me(token))).status).toBe(200)
})

test('large bodies that are held at once are bounded, small ones are taken, and what is over is free again', async () => {
  const { token } = await start()
  for (let count = 0; count < 8; count += 1) await begin('/api/v1/token-entries/batch', token, 8 * MIB)
  const refused = await until(503, () => batch(token, MIB))
  expect([refused.json.code, refused.headers.get('retry-after')]).toEqual(['overloaded', '1'])
  expect(refused.json.detail).toContain('64 MiB of large bodies')
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
}, 30_000)

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
    app.log.filter(({ msg, request_id }) => msg === 'answered' && `${request_id}`.startsWith('mine'))
  while (answered().length < 3) await Bun.sleep(10)
  const line = { level: 20, method: 'GET', ms: expect.any(Number) }
  expect(answered()).toEqual([
    expect.objectContaining({ ...line, request_id: 'mine-1', route: '/api/v1/token-entries' }),
    expect.objectContaining({ ...line, request_id: 'mine-2', route: 'none', status: 404 }),
    expect.objectContaining({ ...line, request_id: 'mine-3', route: '/api/v1/me', status: 200 }),
  ])
  expect(JSON.stringify(answered())).not.toContain('secret')
})
