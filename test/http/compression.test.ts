import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { compressedChunks } from '../../src/http/compression.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { runs } from '../support/tier.ts'

let app: TestApp
let token: string
let service: string

const REPORT = {
  agent_harness: 'codex',
  agent_name: 'Codex',
  model: 'gpt-5',
  started_at: '2026-11-20T09:00:00Z',
  ended_at: '2026-11-20T09:30:00Z',
  tokens: { input: 1, output: 1 },
}

beforeAll(async () => {
  app = await startApp()
  const boss = await app.person('admin')
  service = await app.token('svc', boss)
  token = await app.token('read', boss)
  for (let batch = 0; batch < 4; batch += 1) {
    // Of several megabytes as CSV even when compressed, so that a client that reads nothing fills its socket.
    const json = Array.from({ length: 1_000 }, () => ({
      ...REPORT,
      summary: Buffer.from(crypto.getRandomValues(new Uint8Array(720))).toString('base64'),
    }))
    expect((await app.call('POST /api/v1/token-entries/batch', { token: service, json })).status).toBe(200)
  }
})
afterAll(() => app.close())

const DECODERS: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (bytes) => bytes,
}

/** A response as it is sent. */
async function sent(path: string, encodings: string, headers: Record<string, string> = {}) {
  const response = await fetch(app.url + path, {
    headers: { authorization: `Bearer ${token}`, 'accept-encoding': encodings, ...headers },
    decompress: false,
  } as RequestInit)
  const bytes = await response.bytes()
  const encoding = response.headers.get('content-encoding') ?? 'identity'
  return { response, encoding, bytes, text: () => new TextDecoder().decode(DECODERS[encoding]!(bytes)) }
}

const LIST = '/api/v1/token-entries?limit=100'
const CSV = '/api/v1/token-entries?format=csv&limit=100'
const USAGE =
  '/api/v1/reports/usage?starting_at=2026-11-20&ending_at=2026-11-21&bucket_width=1h&group_by=model&fill_gaps=true'
const PATHS = [
  LIST,
  USAGE,
  '/api/v1/token-entries?format=csv&model=none',
  '/api/v1/openapi.json',
  '/problems',
  '/api/v1/me',
]

test.each(['zstd', 'br', 'gzip'])('lists, reports, exports, documents and pages are sent with %s', async (encoding) => {
  for (const path of [LIST, USAGE, CSV, '/api/v1/openapi.json', '/problems']) {
    const { response, ...compressed } = await sent(path, encoding)
    const plain = await sent(path, 'identity')
    expect(compressed.encoding).toBe(encoding)
    expect(response.headers.get('vary')).toBe('accept-encoding')
    expect(plain.response.headers.get('vary')).toBe('accept-encoding')
    expect(compressed.bytes.byteLength).toBeLessThan(plain.bytes.byteLength)
    expect(compressed.text()).toBe(plain.text())
  }
})

test('whatever a client accepts, the decoded body is the same', async () => {
  const plain = new Map<string, string>()
  for (const path of PATHS) plain.set(path, (await sent(path, 'identity')).text())
  const name = fc.constantFrom('gzip', 'br', 'zstd', 'deflate', 'identity', '*', 'x-gzip', 'GZIP', '')
  const weight = fc.constantFrom('', ';q=0', ';q=0.5', '; q=1', ';q=0.001', ';q=7', ';q=', ';level=1', ';;')
  const header = fc.array(
    fc.tuple(name, weight).map((parts) => parts.join('')),
    { maxLength: 6 },
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...PATHS), header, async (path, elements) => {
      const answer = await sent(path, elements.join(', '))
      expect(answer.response.status).toBe(200)
      expect(answer.text()).toBe(plain.get(path)!)
    }),
    { numRuns: runs(60, 20) },
  )
})

test('HEAD has the headers of GET', async () => {
  const get = await sent(LIST, 'gzip')
  const head = await fetch(app.url + LIST, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' },
    decompress: false,
  } as RequestInit)
  for (const header of ['etag', 'vary', 'content-encoding', 'content-length', 'cache-control', 'content-type']) {
    expect([header, head.headers.get(header)]).toEqual([header, get.response.headers.get(header)])
  }
})

test('problems with many issues are compressed, and responses to reports are not', async () => {
  const post = (path: string, json: unknown) =>
    fetch(app.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service}`,
        'content-type': 'application/json',
        'accept-encoding': 'gzip',
      },
      body: JSON.stringify(json),
      decompress: false,
    } as RequestInit)
  const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`unknown_${at}`, 1]))
  const refused = await post('/api/v1/token-entries', { ...REPORT, ...unknown })
  expect([refused.status, refused.headers.get('content-encoding')]).toEqual([422, 'gzip'])
  expect(JSON.parse(new TextDecoder().decode(gunzipSync(await refused.bytes()))).errors.length).toBeGreaterThan(40)
  const batch = await post('/api/v1/token-entries/batch', Array(20).fill(REPORT))
  expect([batch.status, batch.headers.get('content-encoding')]).toEqual([200, null])
  expect((await batch.bytes()).byteLength).toBeGreaterThan(1_024)
})

test('a new token is shown uncompressed, next to texts that others chose', async () => {
  const session = await app.session('admin')
  const { status, headers } = await app.call('POST /api/v1/tokens', {
    session,
    json: { kind: 'svc', name: 'x'.repeat(100) },
    headers: { 'accept-encoding': 'gzip' },
  })
  expect([status, headers.get('content-encoding')]).toEqual([201, null])
})

test('a client that reads a compressed export slowly gets all of it', async () => {
  const { hostname, port } = new URL(app.url)
  const socket = connect({ host: hostname, port: Number(port) })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.pause()
  const parts: Buffer[] = []
  const ended = new Promise<void>((resolve) => socket.once('end', resolve))
  socket.write(
    `GET ${CSV.replace('&limit=100', '')} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\nAccept-Encoding: zstd\r\n\r\n`,
  )
  for (let pause = 0; pause < 10; pause += 1) {
    await Bun.sleep(50)
    const part = socket.read()
    if (part) parts.push(part)
  }
  socket.on('data', (part: Buffer) => parts.push(part))
  socket.resume()
  await ended
  const [head, ...bodies] = [Buffer.concat(parts)].flatMap((all) => {
    const split = all.indexOf('\r\n\r\n')
    return [all.subarray(0, split).toString(), all.subarray(split + 4)]
  }) as [string, Buffer]
  expect(head.toLowerCase()).toContain('content-encoding: zstd')
  const text = new TextDecoder().decode(zstdDecompressSync(withoutChunks(bodies[0]!)))
  expect(text).toBe((await sent(CSV.replace('&limit=100', ''), 'identity')).text())
})

/** The content of a body with `Transfer-Encoding: chunked`. */
function withoutChunks(body: Buffer): Buffer {
  const contents: Buffer[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.subarray(at, end).toString(), 16)
    if (length === 0) return Buffer.concat(contents)
    contents.push(body.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}

const STREAMED = ['zstd', 'br', 'gzip'] as const

test.each(STREAMED)('a stream with %s reads its source only as it is consumed, and ends with it', async (encoding) => {
  let produced = 0
  let hasEnded = false
  async function* source() {
    try {
      for (;;) {
        produced += 1
        yield crypto.getRandomValues(new Uint8Array(65_536))
      }
    } finally {
      hasEnded = true
    }
  }
  const chunks = compressedChunks(source(), encoding)
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > 1_000_000) break
  }
  expect(produced).toBeLessThan(40)
  expect(hasEnded).toBe(true)
})

// At the same time, because a stream is flushed no sooner than after a second.
test.concurrent.each(STREAMED)('a slow source with %s is passed on before it ends', async (encoding) => {
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  async function* source() {
    yield Buffer.from('first')
    await Bun.sleep(1_100)
    yield Buffer.from('second')
    await finished
  }
  const chunks = compressedChunks(source(), encoding)
  const first = await chunks.next()
  expect(first.value!.byteLength).toBeGreaterThan(0)
  finish()
  const parts = [first.value!]
  for await (const part of chunks) parts.push(part)
  expect(new TextDecoder().decode(DECODERS[encoding]!(Buffer.concat(parts)))).toBe('firstsecond')
})

test('an error of the source ends a compressed stream', async () => {
  async function* source() {
    yield Buffer.from('first')
    throw new Error('the disk failed')
  }
  const read = async () => {
    for await (const _ of compressedChunks(source(), 'zstd'));
  }
  expect(read()).rejects.toThrow('the disk failed')
})
