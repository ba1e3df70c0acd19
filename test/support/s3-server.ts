/**
 * S3-compatible storage on the loopback address: s3rver, or another server with a bucket `backups` that
 * `TALLY_TEST_S3=http://key:secret@127.0.0.1:9000` names. In front of it is a proxy, which can cut or hold connections.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'

const BUCKET = 'backups'

/** s3rver's own credentials. */
const USUAL = { key: 'S3RVER', secret: 'S3RVER' }

export interface TestStorage {
  /** A folder of its own in the bucket: `s3://backups/…/`. */
  place: string
  prefix: string
  /** What reaches the storage through the proxy. */
  env: Record<string, string>
  /** The storage without Tally. */
  client: Bun.S3Client
  /** The names in the folder, in order. */
  names(): Promise<string[]>
  /** Ends connections, or stops reading from them, as soon as they have sent this much in all; undefined to stop that. */
  trouble(what: { cutAfter?: number; holdAfter?: number } | undefined): void
  /** Bytes that were sent to the storage since the last `trouble`. */
  sent(): number
  close(): Promise<void>
}

let count = 0

export async function startStorage(): Promise<TestStorage> {
  const { url, key, secret, stop } = await startServer()
  const sockets = new Set<Socket>()
  let cutAfter = Number.POSITIVE_INFINITY
  let holdAfter = Number.POSITIVE_INFINITY
  let sent = 0
  const proxy = createServer((client) => {
    const server = connect(Number(url.port), url.hostname)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('data', (bytes) => {
      sent += bytes.length
      if (sent > cutAfter) client.destroy()
      else if (sent > holdAfter) client.pause()
      else server.write(bytes)
    })
    server.on('data', (bytes) => client.write(bytes))
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const prefix = `test-${process.pid}-${Date.now()}-${++count}/`
  const client = new Bun.S3Client({
    ...{ bucket: BUCKET, endpoint: url.origin, region: 'us-east-1' },
    ...{ accessKeyId: key, secretAccessKey: secret },
  })
  return {
    place: `s3://${BUCKET}/${prefix}`,
    prefix,
    client,
    env: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: key,
      AWS_SECRET_ACCESS_KEY: secret,
    },
    async names() {
      const { contents = [] } = await client.list({ prefix })
      return contents.map((object) => object.key.slice(prefix.length)).sort()
    },
    trouble(what) {
      sent = 0
      cutAfter = what?.cutAfter ?? Number.POSITIVE_INFINITY
      holdAfter = what?.holdAfter ?? Number.POSITIVE_INFINITY
    },
    sent: () => sent,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
      await stop()
    },
  }
}

async function startServer() {
  const named = process.env.TALLY_TEST_S3
  if (named) {
    const { origin, username, password, hostname, port } = new URL(named)
    return { url: { origin, hostname, port }, key: username, secret: password, stop: async () => {} }
  }
  const directory = await mkdtemp(join(tmpdir(), 'tally-s3-'))
  const server = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory },
    configureBuckets: [{ name: BUCKET, configs: [] }],
  })
  const { store } = server
  const putObject = store.putObject.bind(store)
  // It answers before the file is written, so that a busy machine finds an object of 0 bytes, or none.
  store.putObject = async (object) => {
    const put = await putObject(object)
    const path = store.getResourcePath(object.bucket, object.key, 'object')
    while (Bun.file(path).size < put.size) await Bun.sleep(1)
    return put
  }
  const { port } = await server.run()
  const stop = async () => {
    await server.close()
    await rm(directory, { recursive: true, force: true })
  }
  return { url: { origin: `http://127.0.0.1:${port}`, hostname: '127.0.0.1', port }, ...USUAL, stop }
}
