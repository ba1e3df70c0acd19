import { afterEach, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import type { Caller } from '../../src/access/caller.ts'
import { ExportLimit, type ExportResponse, streamedResponse } from '../../src/http/exports.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { opener, testEngine } from '../support/databases.ts'

const open = opener(testEngine)
let app: TestApp
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await app.close()
})

const CSV = '/api/v1/token-entries?format=csv'

/**
 * In thousands of entries: 20 MB, far more than Linux holds for a socket that nobody reads, which is 4 MB to be sent and
 * what the reader took before it paused. An export that fits is over at once, and keeps nobody from another.
 */
const BATCHES = 7

async function start(): Promise<{ boss: string; token: string }> {
  app = await startApp()
  const boss = await app.person('admin')
  const service = await app.token('svc', boss)
  const report = {
    agent_harness: 'codex',
    agent_name: 'Codex',
    model: 'gpt-5',
    started_at: '2026-11-20T09:00:00Z',
    ended_at: '2026-11-20T09:30:00Z',
    tokens: { input: 1, output: 1 },
    // Three bytes per character.
    summary: 'あ'.repeat(1_000),
  }
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const answer = await app.call('POST /api/v1/token-entries/batch', {
      token: service,
      json: Array(1_000).fill(report),
    })
    expect(answer.status).toBe(200)
  }
  return { boss, token: await app.token('read', boss) }
}

/** Asks for an export and takes nothing of it. */
async function unread(token: string): Promise<Socket> {
  const { hostname, port } = new URL(app.url)
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
  const { boss, token } = await start()
  const statusOf = async (secret: string) => {
    const answer = await fetch(app.url + CSV, { headers: { authorization: `Bearer ${secret}` } })
    await answer.body?.cancel()
    return answer.status
  }
  // One after the other, as often as anybody likes, also without reading what HEAD leaves out.
  for (let count = 0; count < 5; count += 1) {
    const whole = await app.call(`GET ${CSV}`, { token })
    expect(whole.text.split('\r\n')).toHaveLength(BATCHES * 1_000 + 2)
    expect((await app.call(`HEAD ${CSV}`, { token })).status).toBe(200)
  }
  for (let count = 0; count < 4; count += 1) await unread(token)
  await until(429, async () => {
    const status = await statusOf(token)
    // This one may have been served before the last of them, which was then refused.
    if (status !== 429) await unread(token)
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
  for (const other of [first, second, third]) for (let count = 0; count < 4; count += 1) await unread(other!)
  await until(429, async () => {
    const status = await statusOf(await app.token('read'))
    // An export that is not read ends after 20 s, which a busy machine may need for all of them.
    if (status !== 429) for (const other of [token, first, second, third]) await unread(other!)
    return status
  })
  for (const socket of sockets.splice(0)) socket.destroy()
  await until(200, () => statusOf(token))
}, 120_000)

test('each application counts its own exports', async () => {
  app = await startApp()
  const request = new Request('http://localhost/export')
  const person = { person: { id: 1 } } as Caller
  const response = () => streamedResponse((async function* () {})(), {}) as ExportResponse
  const [one, other] = [new ExportLimit(), new ExportLimit()]
  const admitTo = (limit: ExportLimit) => limit.admit(response(), request, person, () => {})
  for (let count = 0; count < 4; count += 1) admitTo(one)
  expect(() => admitTo(one)).toThrow('4 of your exports are already running')
  expect(() => admitTo(other)).not.toThrow()
})

test('an export that fails halfway is not complete for its client', async () => {
  app = await startApp()
  async function* failing() {
    yield new TextEncoder().encode('id,cost\r\n')
    await Bun.sleep(10)
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
  const db = await open()
  async function* failing() {
    yield Buffer.from('id,cost\r\n')
    throw new Error('The process for slow reads ended with SIGKILL.')
  }
  app = await startApp({ db: { ...db, streamSlowly: failing } })
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
