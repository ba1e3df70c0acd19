import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnreadBodies } from '../../src/http/unread-bodies.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { runs } from '../support/tier.ts'

const MIB = 1_048_576

const TRIES = runs(3)

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
if sys.argv[1] == 'chunked':
    body = iter([body[at:at + 65536] for at in range(0, length, 65536)])
    headers['Transfer-Encoding'] = 'chunked'
call = http.client.HTTPConnection('127.0.0.1', int(os.environ['PORT']))
call.request('POST', os.environ['ADDRESS'], body, headers, encode_chunked=sys.argv[1] == 'chunked')
response = call.getresponse()
print(response.status, response.read().decode())`

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
  if (process.argv[1] === 'length') headers['content-length'] = body.length
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
    ['http.client of Python', 'python3', '-c', PYTHON, 'length'],
    ['http.client of Python, chunked', 'python3', '-c', PYTHON, 'chunked'],
    ['fetch of Node', 'node', '--input-type=module', '-e', NODE, 'fetch'],
    ['http of Node', 'node', '--input-type=module', '-e', NODE, 'length'],
    ['http of Node, chunked', 'node', '--input-type=module', '-e', NODE, 'chunked'],
    ['curl', 'curl', '-c', CURL, 'sh'],
    ['curl that waits for 100 Continue', 'curl', '-c', CURL, 'sh', 'Expect: 100-continue'],
    ['curl, chunked', 'curl', '-c', CURL, 'sh', 'Transfer-Encoding: chunked'],
  ]

  // More than the buffers of a socket take, so that a client is still sending when it is refused.
  const refusals = [
    ['a report that is too large', '/api/v1/token-entries', 8 * MIB, true, 413],
    ['telemetry that is too large', '/api/v1/telemetry/v1/logs', 20 * MIB, true, 413],
    ['a report without a token', '/api/v1/token-entries', 8 * MIB, false, 401],
    ['a wrong address', '/api/v1/nothing', 8 * MIB, true, 404],
  ] as const

  for (const [name, program, ...args] of clients) {
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
    // The server may close it at any time.
    this.socket.on('error', () => {})
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

  test('is answered before its declared body has come, and the connection serves the next request', async () => {
    const one = client()
    one.write(...HEAD, 'Content-Length: 100000', '', '')
    await one.until(() => one.received.includes('/problems/unauthenticated'))
    expect(one.received.toLowerCase()).not.toContain('connection: close')
    one.write(' '.repeat(100_000))
    one.write('GET /health HTTP/1.1', 'Host: localhost', '', '')
    await one.until(() => one.received.includes('HTTP/1.1 200'))
  })

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
    one.write(...HEAD, 'Content-Length: 100000000', '', '')
    await one.until(() => one.isClosed)
    expect(one.received).toContain('/problems/unauthenticated')
    expect(one.received.toLowerCase()).toContain('connection: close')
  })

  test('is answered and cut off if its chunked body does not end, or is one of too many', async () => {
    const all = [1, 2, 3, 4].map(() => client())
    for (const each of all) each.write(...CHUNKED, '')
    // None of them pauses for so long that it is cut off for that.
    const sending = setInterval(() => {
      for (const each of all) each.write('3', 'abc', '')
    }, 50)
    await all[0]!.until(() => all.some(({ isClosed }) => isClosed))
    clearInterval(sending)
    expect(all.filter(({ received }) => received === '')).toHaveLength(3)
    for (const each of all) {
      await each.until(() => each.isClosed)
      expect(each.received).toContain('/problems/unauthenticated')
      expect(each.received.toLowerCase()).toContain('connection: close')
    }
  })
})

describe('what is read of a refused chunked body', () => {
  /** A body that sends a part of 1,000 bytes every few milliseconds, and never ends. */
  function endless(everyMs = 1): Request {
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Bun.sleep(everyMs)
        controller.enqueue(new Uint8Array(1_000))
      },
    })
    return new Request('http://localhost/', { method: 'POST', body })
  }

  const ended = () => new Request('http://localhost/', { method: 'POST', body: new Blob(['abc']).stream() })

  test('is all of it, if it ends', async () => {
    expect(await new UnreadBodies().discard(ended(), '192.0.2.1')).toBe(true)
    const read = ended()
    await read.bytes()
    expect(await new UnreadBodies().discard(read, '192.0.2.1')).toBe(true)
    expect(await new UnreadBodies().discard(new Request('http://localhost/'), '192.0.2.1')).toBe(true)
  })

  test('has a limit of bytes', async () => {
    expect(await new UnreadBodies({ bytes: 5_000 }).discard(endless(), '192.0.2.1')).toBe(false)
  })

  test('has a limit of time', async () => {
    expect(await new UnreadBodies({ ms: 50 }).discard(endless(), '192.0.2.1')).toBe(false)
  })

  test('has a limit for pauses', async () => {
    expect(await new UnreadBodies({ pauseMs: 20 }).discard(endless(60_000), '192.0.2.1')).toBe(false)
  })

  test('has a rate for all requests together', async () => {
    const unread = new UnreadBodies({ bytes: 2_000, bytesPerSecond: 100_000 })
    const startedAt = performance.now()
    await Promise.all([unread.discard(endless(), '192.0.2.1'), unread.discard(endless(), '192.0.2.2')])
    // 3,000 bytes of each.
    expect(performance.now() - startedAt).toBeGreaterThan(50)
  })

  test('is nothing for more than some requests, of a network or in total', async () => {
    const unread = new UnreadBodies({ bytes: 5_000, requests: 3, requestsOfNetwork: 2 })
    const reading = ['192.0.2.1', '192.0.2.1', '192.0.2.2'].map((address) => unread.discard(endless(), address))
    expect(await unread.discard(ended(), '192.0.2.3')).toBe(false)
    await Promise.all(reading)
    const again = [unread.discard(endless(), '192.0.2.1'), unread.discard(endless(), '192.0.2.1')]
    expect(await unread.discard(ended(), '192.0.2.1')).toBe(false)
    expect(await unread.discard(ended(), '192.0.2.2')).toBe(true)
    await Promise.all(again)
  })
})
