import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnreadBodies } from '../../src/http/unread-bodies.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { isLong, runs } from '../support/tier.ts'

const MIB = 1_048_576

const TRIES = runs(3, 1)

describe('a client that sends its whole body before it reads a response', () => {
  let app: TestApp
  let token: string
  const folder = mkdtempSync(join(tmpdir(), 'tally-test-'))
  beforeAll(async () => {
    app = await startApp()
    token = await app.token('svc')
  })
  afterAll(async () => {
    await app.close()
    rmSync(folder, { recursive: true })
  })

  /** Each prints the status and the response, in one line. */
  const PYTHON = `
import http.client, os, sys
length = int(os.environ['BYTES'])
headers = {'Content-Type': 'application/json'}
if os.environ['TOKEN']: headers['Authorization'] = 'Bearer ' + os.environ['TOKEN']
body = b' ' * length
if 'close' in sys.argv: headers['Connection'] = 'close'
if 'chunked' in sys.argv:
    body = iter([body[at:at + 65536] for at in range(0, length, 65536)])
    headers['Transfer-Encoding'] = 'chunked'
call = http.client.HTTPConnection('127.0.0.1', int(os.environ['PORT']))
if '1.0' in sys.argv: call._http_vsn, call._http_vsn_str = 10, 'HTTP/1.0'
call.request('POST', os.environ['ADDRESS'], body, headers, encode_chunked='chunked' in sys.argv)
response = call.getresponse()
print(response.status, response.read().decode())`

  const URLLIB = `
import os, urllib.error, urllib.request
headers = {'Content-Type': 'application/json'}
if os.environ['TOKEN']: headers['Authorization'] = 'Bearer ' + os.environ['TOKEN']
url = 'http://127.0.0.1:' + os.environ['PORT'] + os.environ['ADDRESS']
try:
    urllib.request.urlopen(urllib.request.Request(url, b' ' * int(os.environ['BYTES']), headers))
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())`

  const NODE = `
const { ADDRESS, BYTES, PORT, TOKEN } = process.env
const headers = { 'content-type': 'application/json', ...(TOKEN && { authorization: 'Bearer ' + TOKEN }) }
const body = Buffer.alloc(Number(BYTES), ' ')
const parts = Array.from({ length: BYTES / 65536 }, (_, at) => body.subarray(at * 65536, (at + 1) * 65536))
if (process.argv[1] === 'fetch') {
  const response = await fetch('http://127.0.0.1:' + PORT + ADDRESS, { method: 'POST', headers, body })
  console.log(response.status, await response.text())
} else {
  const { request } = await import('node:http')
  if (!process.argv.includes('chunked')) headers['content-length'] = body.length
  if (process.argv.includes('close')) headers.connection = 'close'
  const call = request({ host: '127.0.0.1', port: PORT, path: ADDRESS, method: 'POST', headers }, async (response) => {
    console.log(response.statusCode, (await response.toArray()).join(''))
  })
  for (const part of parts) call.write(part)
  call.end()
}`

  const CURL = [
    'for option; do set -- "$@" -H "$option"; shift; done',
    'head -c $BYTES /dev/zero | tr "\\0" " " >"$BODY"',
    'curl -sS -w " %{http_code}" -X POST "$@" -H Content-Type:application/json -H "Authorization: Bearer $TOKEN" --data-binary @"$BODY" "http://127.0.0.1:$PORT$ADDRESS"',
  ].join('\n')

  const clients: [name: string, program: string, ...args: string[]][] = [
    ['urllib of Python', 'python3', '-c', URLLIB],
    ['http.client of Python, chunked', 'python3', '-c', PYTHON, 'chunked'],
    ['http of Node that closes', 'node', '--input-type=module', '-e', NODE, 'http', 'close'],
    ['curl that waits for 100 Continue', 'curl', '-c', CURL, 'sh', 'Expect: 100-continue'],
  ]

  const moreClients: typeof clients = [
    ['http.client of Python', 'python3', '-c', PYTHON],
    ['http.client of Python that closes', 'python3', '-c', PYTHON, 'close'],
    ['http.client of Python that closes, chunked', 'python3', '-c', PYTHON, 'close', 'chunked'],
    ['http.client of Python, HTTP/1.0', 'python3', '-c', PYTHON, '1.0'],
    ['fetch of Node', 'node', '--input-type=module', '-e', NODE, 'fetch'],
    ['http of Node', 'node', '--input-type=module', '-e', NODE, 'http'],
    ['http of Node, chunked', 'node', '--input-type=module', '-e', NODE, 'http', 'chunked'],
    ['curl', 'curl', '-c', CURL, 'sh'],
    ['curl that closes', 'curl', '-c', CURL, 'sh', 'Connection: close', 'Expect:'],
    ['curl, chunked', 'curl', '-c', CURL, 'sh', 'Transfer-Encoding: chunked'],
  ]

  // More than the buffers of a socket take, so that a client is still sending when it is refused.
  const refusals: [what: string, address: string, bytes: number, hasToken: boolean, status: number][] = [
    ['a report that is too large', '/api/v1/token-entries', 5 * MIB, true, 413],
    ['a report without a token', '/api/v1/token-entries', 5 * MIB, false, 401],
  ]
  if (isLong) {
    refusals.push(
      ['telemetry that is too large', '/api/v1/telemetry/v1/logs', 17 * MIB, true, 413],
      ['a wrong address', '/api/v1/nothing', 5 * MIB, true, 404],
    )
  }

  for (const [name, program, ...args] of isLong ? [...clients, ...moreClients] : clients) {
    test.skipIf(Bun.which(program) === null)(`reads why it was refused: ${name}`, async () => {
      for (const [what, address, bytes, hasToken, status] of refusals) {
        for (let count = 0; count < TRIES; count += 1) {
          const child = Bun.spawn([program === 'curl' ? 'sh' : program, ...args], {
            env: {
              ...process.env,
              ADDRESS: address,
              BYTES: String(bytes),
              BODY: join(folder, 'body'),
              PORT: new URL(app.url).port,
              TOKEN: hasToken ? token : '',
            },
            stdout: 'pipe',
            stderr: 'pipe',
          })
          const [printed, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
          expect([what, printed, errors]).toEqual([what, expect.stringContaining(String(status)), ''])
          expect(printed).toMatch(/"(?:detail|message)":/)
        }
      }
    })
  }
})

/** The connection of a client that writes what it likes, and what it is answered. */
class Client {
  readonly socket: Socket
  received = ''
  error: string | null = null
  isClosed = false

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect(Number(port), hostname)
    this.socket.on('data', (data) => {
      this.received += data.toString()
    })
    this.socket.on('close', () => {
      this.isClosed = true
    })
    this.socket.on('error', ({ message }) => {
      this.error = message
    })
  }

  write(...lines: string[]): void {
    this.socket.write(lines.join('\r\n'))
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await Bun.sleep(5)
  }
}

describe('a refused request', () => {
  let app: TestApp
  const clients: Client[] = []
  beforeAll(async () => {
    app = await startApp()
  })
  afterAll(async () => {
    for (const { socket } of clients) socket.destroy()
    await app.close()
  })

  function client(): Client {
    const added = new Client(app.url)
    clients.push(added)
    return added
  }

  const HEAD = ['POST /api/v1/token-entries HTTP/1.1', 'Host: localhost']
  const CHUNKED = [...HEAD, 'Transfer-Encoding: chunked', '']

  test('is answered after its chunked body, and the connection serves the next request', async () => {
    const one = client()
    one.write(...CHUNKED, '3', 'abc', '')
    // On an idle machine the body has been read by then.
    await Bun.sleep(100)
    expect(one.received).toBe('')
    one.write('0', '', '')
    await one.until(() => one.received.includes('/problems/unauthenticated'))
    expect(one.received.toLowerCase()).not.toContain('connection: close')
    one.write('GET /health HTTP/1.1', 'Host: localhost', '', '')
    await one.until(() => one.received.includes('HTTP/1.1 200'))
  })

  test('is answered at once and cut off if it declares more than is worth reading', async () => {
    const one = client()
    one.write(...HEAD, 'Content-Length: 1000000000', '', '')
    await one.until(() => one.isClosed)
    expect(one.received).toContain('/problems/unauthenticated')
    expect(one.received.toLowerCase()).toContain('connection: close')
  })

  test('is answered if the rest of its body does not come, or it is one of too many', async () => {
    const declared = client()
    const chunked = [1, 2, 3, 4, 5, 6, 7, 8].map(() => client())
    declared.write(...HEAD, 'Content-Length: 100000', '', '')
    for (const each of chunked) each.write(...CHUNKED, '')
    let bytes = 0
    // None of them pauses for so long that it is cut off for that.
    const sending = setInterval(() => {
      declared.write(' ')
      bytes += 1
      for (const each of chunked) each.write('3', 'abc', '')
    }, 50)
    await declared.until(() => [declared, ...chunked].some(({ received }) => received !== ''))
    clearInterval(sending)
    expect([declared, ...chunked].filter(({ received }) => received === '')).toHaveLength(8)
    for (const each of chunked) {
      await each.until(() => each.isClosed)
      expect(each.received).toContain('/problems/unauthenticated')
      expect(each.received.toLowerCase()).toContain('connection: close')
    }
    await declared.until(() => declared.received.includes('/problems/unauthenticated'))
    expect(declared.received.toLowerCase()).not.toContain('connection: close')
    declared.write(' '.repeat(100_000 - bytes))
    declared.write('GET /health HTTP/1.1', 'Host: localhost', '', '')
    await declared.until(() => declared.received.includes('HTTP/1.1 200'))
  })
})

describe('the response to a refused request', () => {
  let app: TestApp
  let limited: TestApp
  let full: TestApp
  let tokens: Record<'report' | 'read' | 'limited', string>
  const clients: Client[] = []
  beforeAll(async () => {
    ;[app, limited, full] = await Promise.all([
      startApp(),
      startApp({ rateLimit: 1, clock: { now: () => Date.parse('2026-11-20T12:00:00Z') } }),
      startApp({ requestLimit: 0 }),
    ])
    tokens = { report: await app.token('svc'), read: await app.token('read'), limited: await limited.token('svc') }
    expect((await limited.call('GET /api/v1/me', { token: tokens.limited })).status).toBe(200)
  })
  afterAll(async () => {
    for (const { socket } of clients) socket.destroy()
    await Promise.all([app.close(), limited.close(), full.close()])
  })

  const JSON_TYPE = 'Content-Type: application/json'
  const as = (token: keyof typeof tokens) => `Authorization: Bearer ${tokens[token]}`
  /** The smallest bodies that are too large for a report, and for a sign-in. */
  const [REPORT, SIGN_IN] = [MIB + 1, 16_385]

  const refusals: [string, number, () => TestApp, requestLine: string, headers: () => string[], length?: number][] = [
    ['no token', 401, () => app, 'POST /api/v1/token-entries', () => [JSON_TYPE]],
    ['the wrong kind of token', 403, () => app, 'POST /api/v1/token-entries', () => [JSON_TYPE, as('read')]],
    ['a wrong address', 404, () => app, 'POST /api/v1/nothing', () => [as('report')]],
    ['the page of a wrong address', 404, () => app, 'POST /nothing', () => ['Accept: text/html']],
    ['a wrong method', 405, () => app, 'DELETE /api/v1/token-entries', () => [as('report')]],
    ['a body that is too large', 413, () => app, 'POST /api/v1/token-entries', () => [JSON_TYPE, as('report')], REPORT],
    ['a sign-in that is too large', 413, () => app, 'POST /api/v1/session', () => [JSON_TYPE]],
    ['a wrong content type', 415, () => app, 'POST /api/v1/token-entries', () => ['Content-Type: a/b', as('report')]],
    ['telemetry of a wrong type', 415, () => app, 'POST /api/v1/telemetry/v1/logs', () => [as('report')]],
    ['too many calls', 429, () => limited, 'POST /api/v1/token-entries', () => [JSON_TYPE, as('limited')]],
    ['too many requests', 503, () => full, 'POST /api/v1/token-entries', () => [JSON_TYPE]],
  ]

  const connections: [what: string, version: string, ...headers: string[]][] = [
    ['HTTP/1.1', 'HTTP/1.1'],
    ['Connection: close', 'HTTP/1.1', 'Connection: close'],
    ['Connection: Close, TE', 'HTTP/1.1', 'Connection: Close, TE'],
    ['HTTP/1.0', 'HTTP/1.0'],
    ['HTTP/1.0 with Connection: keep-alive', 'HTTP/1.0', 'Connection: keep-alive'],
  ]

  for (const [what, status, at, requestLine, headers, length = SIGN_IN] of refusals) {
    test(`comes after the whole body: ${what}`, async () => {
      for (const isChunked of [false, true]) {
        for (const [connection, version, ...more] of connections) {
          // HTTP/1.0 has no chunks.
          if (isChunked && version === 'HTTP/1.0') continue
          const one = new Client(at().url)
          clients.push(one)
          const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
          one.write(`${requestLine} ${version}`, 'Host: localhost', ...headers(), ...more, framing, '', '')
          // Whoever answers at once has closed the connection by then.
          await fetch(`${at().url}/health`)
          if (isChunked) one.write(length.toString(16), ' '.repeat(length), '0', '', '')
          else one.write(' '.repeat(length))
          await one.until(() => one.received.includes('\r\n\r\n') || one.isClosed)
          expect([connection, one.received.slice(0, 12), one.error]).toEqual([connection, `HTTP/1.1 ${status}`, null])
        }
      }
    })
  }
})

describe('what is read of a refused body', () => {
  /** A body that sends a part of 1,000 bytes every few milliseconds, and never ends. */
  function endless({
    everyMs = 1,
    headers = {},
  }: {
    everyMs?: number
    headers?: Record<string, string>
  } = {}): Request {
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Bun.sleep(everyMs)
        controller.enqueue(new Uint8Array(1_000))
      },
    })
    return new Request('http://localhost/', { method: 'POST', body, headers })
  }

  const unreadBodies = (limits?: ConstructorParameters<typeof UnreadBodies>[1]) =>
    new UnreadBodies(new AbortController().signal, limits)

  const ended = () => new Request('http://localhost/', { method: 'POST', body: new Blob(['abc']).stream() })

  test('is all of it, if it ends', async () => {
    expect(await unreadBodies().discard(ended(), '192.0.2.1')).toBe(true)
    const read = ended()
    await read.bytes()
    expect(await unreadBodies().discard(read, '192.0.2.1')).toBe(true)
    expect(await unreadBodies().discard(new Request('http://localhost/'), '192.0.2.1')).toBe(true)
  })

  test('has a limit of bytes', async () => {
    expect(await unreadBodies({ bytes: 5_000 }).discard(endless(), '192.0.2.1')).toBe(false)
  })

  test('has a limit of time', async () => {
    expect(await unreadBodies({ ms: 50 }).discard(endless(), '192.0.2.1')).toBe(false)
  })

  test('has a limit for pauses', async () => {
    expect(await unreadBodies({ pauseMs: 20 }).discard(endless({ everyMs: 60_000 }), '192.0.2.1')).toBe(false)
  })

  test('is the rest of a declared body also after a limit, which Bun drops, unless it is too long', async () => {
    const declared = (length: string) => endless({ headers: { 'content-length': length } })
    const unread = unreadBodies({ ms: 50, bytes: 1_000_000, requests: 1 })
    const reading = unread.discard(declared('1000000'), '192.0.2.1')
    // One of too many.
    expect(await unread.discard(declared('1000000'), '192.0.2.1')).toBe(true)
    expect(await reading).toBe(true)
    expect(await unread.discard(declared('1000001'), '192.0.2.1')).toBe(false)
    // Two headers.
    expect(await unread.discard(declared('1000, 1000'), '192.0.2.1')).toBe(false)
  })

  test('is nothing any more when the server stops, which closes the connection', async () => {
    const finishing = new AbortController()
    const unread = new UnreadBodies(finishing.signal)
    const declared = { headers: { 'content-length': '1000000' } }
    const reading = unread.discard(endless({ everyMs: 60_000, ...declared }), '192.0.2.1')
    finishing.abort()
    expect(await reading).toBe(false)
    expect(await unread.discard(endless(declared), '192.0.2.1')).toBe(false)
  })

  test('has a rate for all requests together', async () => {
    const unread = unreadBodies({ bytes: 2_000, bytesPerSecond: 100_000 })
    const startedAt = performance.now()
    await Promise.all([unread.discard(endless(), '192.0.2.1'), unread.discard(endless(), '192.0.2.2')])
    // 3,000 bytes of each.
    expect(performance.now() - startedAt).toBeGreaterThan(50)
  })

  test('is nothing for more than some requests, of a network or in total', async () => {
    const unread = unreadBodies({ bytes: 5_000, requests: 3, requestsOfNetwork: 2 })
    const reading = ['192.0.2.1', '192.0.2.1', '192.0.2.2'].map((address) => unread.discard(endless(), address))
    expect(await unread.discard(ended(), '192.0.2.3')).toBe(false)
    await Promise.all(reading)
    const again = [unread.discard(endless(), '192.0.2.1'), unread.discard(endless(), '192.0.2.1')]
    expect(await unread.discard(ended(), '192.0.2.1')).toBe(false)
    expect(await unread.discard(ended(), '192.0.2.2')).toBe(true)
    await Promise.all(again)
  })
})
