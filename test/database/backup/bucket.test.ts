/** A storage that does not respond, or stops in the middle. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Bucket, isUnresponsive } from '../../../src/database/backup/remote/bucket.ts'

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
  bucket = new Bucket({ bucket: 'backups', prefix: 'tally/' }, access, { patienceMs: 200 })
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
    expect(error.message).toContain('has not responded for 0.2 s')
    expect(isUnresponsive(error)).toBe(true)
  }
})

test('is given up in the middle of a download', async () => {
  begin = 'HTTP/1.1 206 Partial Content\r\nContent-Length: 100\r\nContent-Range: bytes 0-99/100\r\n\r\nonly this'
  const read = async () => {
    for await (const _ of bucket.read({ name: NAME, bytes: 100 }));
  }
  expect(isUnresponsive(await errorOf(read()))).toBe(true)
})
