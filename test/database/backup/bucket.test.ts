/** A storage that does not respond, or stops in the middle. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Bucket } from '../../../src/database/backup/remote/bucket.ts'

const NAME = 'tally-20261121T201500Z.db.zst.age'

let server: Server
let bucket: Bucket
const sockets: Socket[] = []
/** What the server answers before it says nothing any more. */
let begin: string

beforeEach(async () => {
  begin = ''
  server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => socket.write(begin))
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const access = {
    endpoint,
    region: 'us-east-1',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
    sessionToken: undefined,
  }
  bucket = new Bucket({ bucket: 'backups', prefix: 'tally/' }, access, { silenceMs: 1_000 })
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  )

test('is given up after a while, whatever was asked of it', async () => {
  const errors = await Promise.all(
    [
      bucket.list(),
      bucket.find(NAME),
      bucket.store(NAME, new Blob(['content']).stream(), 7),
      bucket.remove({ name: NAME }),
    ].map(errorOf),
  )
  for (const error of errors) {
    expect(error.message).toContain('neither sent nor received anything for 1 s')
    expect(error.message).toContain('Check AWS_ENDPOINT_URL')
  }
})

test('is given up in the middle of a download', async () => {
  begin = 'HTTP/1.1 206 Partial Content\r\nContent-Length: 100\r\nContent-Range: bytes 0-99/100\r\n\r\nonly this'
  const read = async () => {
    for await (const _ of bucket.read({ name: NAME, bytes: 100 }));
  }
  expect((await errorOf(read())).message).toContain('neither sent nor received anything for 1 s')
})

test.each([
  ['informational responses', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ['a body', `HTTP/1.1 200 OK\r\ncontent-type: application/xml\r\n\r\n${'<a>'.repeat(100)}`],
])('is left when it sends %s without end', async (_what, endless) => {
  const chunk = endless.repeat(1_000)
  begin = chunk
  let written = 0
  server.on('connection', (socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(chunk)) written += chunk.length
      socket.once('drain', more)
    }
    socket.once('data', more)
  })
  for (const asked of [() => bucket.list(), () => bucket.find(NAME), () => bucket.remove({ name: NAME })]) {
    const error = await errorOf(asked())
    if (error) expect(error.message).toContain('Check AWS_ENDPOINT_URL')
  }
  expect(written).toBeLessThan(100_000_000)
})
