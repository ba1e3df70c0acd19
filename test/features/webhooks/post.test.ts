import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { type Posting, post } from '../../../src/features/webhooks/delivery/post.ts'
import { addressFinder, type Resolve } from '../../../src/lib/outgoing/addresses.ts'
import { exchange } from '../../../src/lib/outgoing/exchange.ts'
import { startReceiver, startSocketServer } from '../../support/receivers.ts'

const LOOPBACK = ['127.0.0.0/8']

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function receiver(...args: Parameters<typeof startReceiver>) {
  const started = await startReceiver(...args)
  closing.push(started.close)
  return started
}

async function socketServer(...args: Parameters<typeof startSocketServer>) {
  const started = await startSocketServer(...args)
  closing.push(started.close)
  return started
}

type Options = Partial<Posting> & { addressesOf?: ReturnType<typeof addressFinder> }

const send = (url: string, { addressesOf = addressFinder(LOOPBACK), ...options }: Options = {}) =>
  post({ url, headers: { 'content-type': 'application/json' }, body: '{}', ...options }, (request) =>
    exchange(request, undefined, addressesOf),
  )

/** Once the headers of the request have arrived. */
const onRequest = (answer: (socket: Socket) => void) =>
  socketServer((socket) => void socket.once('data', () => answer(socket)))

describe('A message', () => {
  test('is delivered when the endpoint returns a 2xx, whose body is kept', async () => {
    const { url, received } = await receiver((_request, response) => response.writeHead(202).end('queued'))
    const result = await send(`${url}?key=1`)
    expect(result).toMatchObject({ status: 202, response: 'queued', error: null })
    expect(received).toEqual([
      { body: '{}', headers: expect.objectContaining({ 'content-type': 'application/json', 'content-length': '2' }) },
    ])
  })

  test('is not delivered when the endpoint returns an error, whose body is kept', async () => {
    const { url } = await receiver((_request, response) => response.writeHead(500).end('out of order'))
    expect(await send(url)).toMatchObject({
      status: 500,
      response: 'out of order',
      error: 'The endpoint returned 500.',
    })
  })

  test('follows none of thirty redirects', async () => {
    const { url, received } = await receiver((_request, response) =>
      response.writeHead(307, { location: `/hook?${received.length}` }).end(),
    )
    const result = await send(url)
    expect(result.status).toBe(307)
    expect(result.error).toContain('a redirect, which Tally does not follow')
    expect(received).toHaveLength(1)
  })

  test('is not delivered when nothing listens at the address', async () => {
    const { url, close } = await startReceiver()
    await close()
    const result = await send(url)
    expect(result).toMatchObject({ status: null, response: '' })
    expect(result.error).toContain('refused the connection')
  })

  test('is given up when the endpoint does not respond in time', async () => {
    const { url } = await onRequest(() => {})
    const result = await send(url, { timeoutMs: 200 })
    expect(result.error).toContain('did not respond within 0.2 s')
    expect(result.latencyMs).toBeGreaterThanOrEqual(190)
  })

  test('is given up when the endpoint sends its headers too slowly', async () => {
    const { url } = await onRequest((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 200 OK\r\n'.charAt(0)), 20)
      socket.on('close', () => clearInterval(timer))
    })
    expect((await send(url, { timeoutMs: 300 })).status).toBeNull()
  })

  test('is given up when a name takes too long to resolve', async () => {
    const never = addressFinder(LOOPBACK, () => new Promise(() => {}))
    const result = await send('http://hooks.example.com/', { addressesOf: never, timeoutMs: 100 })
    expect(result.error).toContain('did not respond within 0.1 s')
  })

  test('is delivered when the endpoint closes the connection in the middle of a 200', async () => {
    const { url } = await onRequest((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nabc')
      setTimeout(() => socket.destroy(), 20)
    })
    expect(await send(url)).toMatchObject({ status: 200, response: 'abc', error: null })
  })

  test('is not delivered when the endpoint closes the connection in the middle of its headers', async () => {
    const { url } = await onRequest((socket) => {
      socket.write('HTTP/1.1 20')
      setTimeout(() => socket.destroy(), 20)
    })
    const result = await send(url)
    expect(result.status).toBeNull()
    expect(result.error).toContain('closed the connection without a response')
  })

  test('is delivered when the endpoint sends a hundred megabytes, of which the beginning is kept', async () => {
    let sent = 0
    const { url } = await onRequest((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n')
      const chunk = Buffer.alloc(65_536, 'a')
      const more = () => {
        while (sent < 104_857_600) {
          sent += chunk.length
          if (!socket.write(chunk)) return void socket.once('drain', more)
        }
      }
      more()
    })
    const result = await send(url)
    expect(result).toMatchObject({ status: 200, response: 'a'.repeat(1_000), error: null })
    expect(sent).toBeLessThan(50_000_000)
  })

  test('is not delivered when the headers of the response never end', async () => {
    const { url } = await onRequest((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write(`x: ${'a'.repeat(10_000)}\r\n`), 1)
      socket.on('close', () => clearInterval(timer))
    })
    expect((await send(url)).error).toContain('did not respond with valid HTTP')
  })

  test('is not delivered to what does not speak HTTP', async () => {
    const { url } = await socketServer((socket) => void socket.write('SSH-2.0-OpenSSH_9.9\r\n'))
    expect((await send(url)).error).toContain('did not respond with valid HTTP')
  })

  test.each([
    ['informational responses', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
    ['requests to continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('is not delivered when %s never end, of which few are read', async (_what, answer) => {
    const endless = Buffer.from(answer.repeat(1_000))
    let sent = 0
    const { url } = await onRequest((socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write(endless)) sent += endless.length
        socket.once('drain', more)
      }
      more()
    })
    const result = await send(url, { timeoutMs: 600_000 })
    expect(result).toMatchObject({ status: null, response: '' })
    expect(result.error).toContain('sent too much before a response')
    expect(sent).toBeLessThan(20_000_000)
  })

  test('keeps no control characters of a response', async () => {
    const { url } = await receiver((_request, response) => response.end('a\0b\u001b[31mc\n'))
    expect((await send(url)).response).toBe('ab[31mc\n')
  })

  test('is sent directly, whatever proxy the environment names', async () => {
    const proxy = await receiver((_request, response) => response.end('proxy'))
    const { url } = await receiver()
    const before = process.env.HTTP_PROXY
    process.env.HTTP_PROXY = proxy.url
    try {
      expect((await send(url)).response).toBe('ok')
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY
      else process.env.HTTP_PROXY = before
    }
    expect(proxy.received).toEqual([])
  })
})

describe('Over TLS, a message', () => {
  const fixture = (name: string) => readFileSync(join(import.meta.dir, '../../fixtures/tls', name), 'utf8')
  const tls = { key: fixture('key.pem'), cert: fixture('certificate.pem') }

  const toLoopback = addressFinder(LOOPBACK, async () => ['127.0.0.1'])

  test('is delivered to the checked address, whose certificate is that of the name', async () => {
    const { port, received } = await receiver(undefined, { tls })
    const result = await send(`https://hooks.example.test:${port}/`, { addressesOf: toLoopback, ca: tls.cert })
    expect(result).toMatchObject({ status: 200, error: null })
    expect(received[0]!.headers.host).toBe(`hooks.example.test:${port}`)
  })

  test('is not sent to a server whose certificate nobody vouches for', async () => {
    const { port, received } = await receiver(undefined, { tls })
    const result = await send(`https://hooks.example.test:${port}/`, { addressesOf: toLoopback })
    expect(result.error).toContain('The certificate of hooks.example.test is not valid')
    expect(received).toEqual([])
  })

  test('is not sent to a server whose certificate is that of another name', async () => {
    const { port, received } = await receiver(undefined, { tls })
    const result = await send(`https://other.example.test:${port}/`, { addressesOf: toLoopback, ca: tls.cert })
    expect(result.error).toContain('The certificate of other.example.test is not valid')
    expect(received).toEqual([])
  })

  test('is not sent to a server that does not speak TLS', async () => {
    const { port, received } = await receiver()
    const result = await send(`https://hooks.example.test:${port}/`, { addressesOf: toLoopback, ca: tls.cert })
    expect(result.status).toBeNull()
    expect(received).toEqual([])
  })
})

describe('Addresses', () => {
  test.each([
    ...[
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '127.0.0.1',
      '127.1.2.3',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
    ],
    ...['192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
    ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '2130706433', '0x7f.1', '0177.0.0.1', '127.1'],
    ...[
      '[::]',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:8.8.8.8]',
      '[::127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b:1::1]',
    ],
    ...[
      '[100::1]',
      '[2001::1]',
      '[2001:db8::1]',
      '[2002:7f00:1::]',
      '[3fff::1]',
      '[5f00::1]',
      '[fc00::1]',
      '[fd12::1]',
    ],
    ...['[fe80::1]', '[fec0::1]', '[ff02::1]'],
  ])('http://%s/ is refused before anything is sent', async (host) => {
    const result = await send(`http://${host}/`, { addressesOf: addressFinder([]), timeoutMs: 500 })
    expect(result.error).toContain('not on the public internet')
  })

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '[2606:4700:4700::1111]', '[2a00:1450:4001:800::200e]'])(
    '%s is allowed',
    async (host) => {
      expect(await addressFinder([])(host)).toHaveLength(1)
    },
  )

  test('of a private network are allowed once the network is named, and no others', async () => {
    const addresses = addressFinder(['10.1.0.0/16', 'fd00:1::/32'])
    expect(await addresses('10.1.2.3')).toEqual(['10.1.2.3'])
    expect(await addresses('[fd00:1::2]')).toEqual(['fd00:1::2'])
    for (const host of ['10.2.0.1', '[fd00:2::1]', '127.0.0.1']) {
      expect(await addresses(host).catch((error) => error.message)).toContain('not on the public internet')
    }
  })

  test('of a name are refused altogether if one of them is private', async () => {
    const mixed = addressFinder([], async () => ['93.184.216.34', '169.254.169.254'])
    const result = await send('http://hooks.example.com/', { addressesOf: mixed })
    expect(result.error).toContain('hooks.example.com has the address 169.254.169.254')
  })

  test('are resolved once, so that a name whose address changes meanwhile is not followed', async () => {
    const { port, received } = await receiver()
    let asked = 0
    // Answers with an allowed address first, and with that of a service inside at every later question.
    const rebinding: Resolve = async () => [asked++ === 0 ? '127.0.0.1' : '169.254.169.254']
    const result = await send(`http://hooks.example.com:${port}/`, { addressesOf: addressFinder(LOOPBACK, rebinding) })
    expect(result.error).toBeNull()
    expect(asked).toBe(1)
    expect(received[0]!.headers.host).toBe(`hooks.example.com:${port}`)
  })

  test('that refuse a connection are followed by the other addresses of the name', async () => {
    const { port } = await receiver()
    const two = addressFinder(LOOPBACK, async () => ['127.0.0.2', '127.0.0.1'])
    expect(await send(`http://hooks.example.com:${port}/`, { addressesOf: two })).toMatchObject({ error: null })
  })

  test('are missing for a name that does not exist', async () => {
    const missing = addressFinder([], async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
    })
    const result = await send('http://missing.example.com/', { addressesOf: missing })
    expect(result.error).toBe('The name missing.example.com does not exist in DNS.')
  })
})
