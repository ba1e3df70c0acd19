import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { type Exchange, exchange } from '../../../src/lib/outgoing/exchange.ts'
import { exchangeOnThread } from '../../../src/lib/outgoing/outgoing-thread.ts'
import { send } from '../../../src/lib/outgoing/send.ts'
import { startReceiver, startSocketServer } from '../../support/receivers.ts'

const fixture = (name: string) => readFileSync(join(import.meta.dir, '../../fixtures/tls', name), 'utf8')
const tls = { key: fixture('key.pem'), cert: fixture('certificate.pem') }

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function closed<Started extends { close: () => Promise<unknown> }>(starting: Promise<Started>): Promise<Started> {
  const started = await starting
  closing.push(started.close)
  return started
}

const onRequest = (answer: (socket: Socket) => void) =>
  closed(startSocketServer((socket) => void socket.once('data', () => answer(socket))))

const request = (url: string): Exchange => ({ method: 'GET', url, bodyBytes: 16_384, timeoutMs: 600_000 })

const failureOf = (promise: Promise<unknown>) => promise.catch((error: NodeJS.ErrnoException) => error.code)

/** What is sent as fast as it is taken, until the connection is closed. */
function endlessly(socket: Socket, text: string): void {
  const chunk = Buffer.from(text.repeat(1_000))
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
    socket.once('drain', more)
  }
  more()
}

const HINTS = 'HTTP/1.1 103 Early Hints\r\n\r\n'

describe.each([
  ['on this thread', exchange],
  ['on a thread of its own', exchangeOnThread],
])('a request %s', (_where, exchanged) => {
  test('returns the whole response, also after informational ones', async () => {
    const { url } = await onRequest((socket) =>
      socket.end(`${HINTS}HTTP/1.1 201 Made\r\nx-what: this\r\ncontent-length: 2\r\n\r\nok`),
    )
    const response = await exchanged({ ...request(url), method: 'POST', body: 'x'.repeat(300_000) })
    expect(response).toMatchObject({ status: 201, statusText: 'Made', headers: { 'x-what': 'this' }, cut: null })
    expect(Buffer.from(response.body).toString()).toBe('ok')
  })

  test('says why it has no response', async () => {
    const endless = await onRequest((socket) => endlessly(socket, HINTS))
    expect(await failureOf(exchanged(request(endless.url)))).toBe('OVER_BUDGET')
    const silent = await onRequest(() => {})
    expect(await failureOf(exchanged({ ...request(silent.url), timeoutMs: 50 }))).toBe('NO_RESPONSE')
    expect(await failureOf(exchanged({ ...request(silent.url), privateNetworks: [] }))).toBe('ADDRESS_REFUSED')
    await silent.close()
    expect(await failureOf(exchanged(request(silent.url)))).toBe('ECONNREFUSED')
  })

  test('keeps of a body what it may have, and says what cut it', async () => {
    const head = 'HTTP/1.1 200 OK\r\n'
    const large = await onRequest((socket) => endlessly(socket, `${head}content-length: 99999999\r\n\r\n`))
    expect(await exchanged(request(large.url))).toMatchObject({ status: 200, cut: 'limit', body: { length: 16_384 } })
    // One byte of a body has five of framing, which count as well.
    const framed = await onRequest((socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
      endlessly(socket, '1\r\na\r\n')
    })
    expect(await exchanged({ ...request(framed.url), bodyBytes: 100_000 })).toMatchObject({ cut: 'limit' })
    const broken = await onRequest((socket) => socket.end(`${head}content-length: 10\r\n\r\nabc`))
    expect(await exchanged(request(broken.url))).toMatchObject({ cut: 'connection', body: { length: 3 } })
    const slow = await onRequest((socket) => socket.write(`${head}content-length: 10\r\n\r\nabc`))
    expect(await exchanged({ ...request(slow.url), timeoutMs: 300 })).toMatchObject({ status: 200, cut: 'time' })
  })
})

test('what TLS sends besides HTTP counts', async () => {
  const server = createTlsServer(tls, (socket) => {
    socket.on('error', () => {})
    socket.setNoDelay(true)
    // Each byte of the body is a record of TLS, with more than twenty bytes around it.
    const more = () => void (socket.destroyed || socket.write('a', () => setImmediate(more)))
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 16000\r\n\r\n', more))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  closing.push(async () => server.close())
  const { port } = server.address() as { port: number }
  const asked = { ...request(`https://hooks.example.test:${port}/`), ca: tls.cert }
  const { body, cut } = await exchange(asked, undefined, async () => ['127.0.0.1'])
  expect(cut).toBe('limit')
  expect(body.length).toBeLessThan(5_000)
})

test('many requests are answered at once, whatever one of the servers does', async () => {
  const silent = await onRequest(() => {})
  const waiting = Array.from({ length: 20 }, () => exchangeOnThread({ ...request(silent.url), timeoutMs: 60_000 }))
  const { url } = await closed(startReceiver())
  const answers = await Promise.all(Array.from({ length: 20 }, () => exchangeOnThread(request(url))))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  await silent.close()
  const ended = await Promise.all(waiting.map(failureOf))
  expect(ended).toEqual(Array(20).fill('ECONNRESET'))
})

test('a server that neither sends nor takes anything is left', async () => {
  const { url } = await onRequest((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'))
  const { body } = await send({ method: 'GET', url }, { bodyBytes: 10, silenceMs: 1_000 })
  expect(await failureOf(Array.fromAsync(body))).toBe('SILENT')
})

describe('a proxy of the environment', () => {
  /** Connects to what it is asked for, and remembers how. */
  async function startProxy(response = 'HTTP/1.1 200 Connected\r\n\r\n') {
    const asked: string[] = []
    const proxy = await closed(
      startSocketServer((socket) => {
        socket.once('data', (head) => {
          asked.push(head.toString())
          const target = /^CONNECT \S+:(\d+) /.exec(head.toString())
          socket.write(response)
          if (!target) return
          const through = connect(Number(target[1]), '127.0.0.1')
          through.on('error', () => {})
          socket.pipe(through).pipe(socket)
        })
      }),
    )
    return { asked, address: new URL(proxy.url).host }
  }

  async function through<Result>(environment: Record<string, string>, run: () => Promise<Result>): Promise<Result> {
    const before = Object.keys(environment).map((name) => [name, process.env[name]] as const)
    Object.assign(process.env, environment)
    try {
      return await run()
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    }
  }

  test('is asked for a connection, with its password, and TLS is with the server behind it', async () => {
    const { asked, address } = await startProxy()
    const { port } = await closed(startReceiver(undefined, { tls }))
    const url = `https://hooks.example.test:${port}/`
    const proxied = () => exchange({ ...request(url), ca: tls.cert })
    const { status } = await through({ HTTPS_PROXY: `http://us%20er:secret@${address}` }, proxied)
    expect(status).toBe(200)
    expect(asked[0]).toStartWith(`CONNECT hooks.example.test:${port} HTTP/1.1`)
    expect(asked[0]).toContain(`roxy-authorization: Basic ${btoa('us er:secret')}`)
  })

  test('is not asked for what it is not meant for, or where addresses are checked', async () => {
    const { asked, address } = await startProxy()
    const { url } = await closed(startReceiver())
    const environment = { HTTP_PROXY: `http://${address}` }
    const local = () => exchange(request(url))
    expect((await through({ ...environment, NO_PROXY: '127.0.0.1' }, local)).status).toBe(200)
    const checked = () => exchange({ ...request(url), privateNetworks: ['127.0.0.0/8'] })
    expect((await through(environment, checked)).status).toBe(200)
    expect(asked).toEqual([])
  })

  test('that refuses is named', async () => {
    const { address } = await startProxy('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
    const refused = () => exchange(request('http://tally.example/')).catch((error: Error) => error.message)
    expect(await through({ HTTP_PROXY: `http://${address}` }, refused)).toBe(
      `the proxy ${address} returned 407 Proxy Authentication Required`,
    )
    expect(await through({ HTTP_PROXY: 'socks5://localhost:1' }, refused)).toContain('not an http:// or https://')
  })
})
