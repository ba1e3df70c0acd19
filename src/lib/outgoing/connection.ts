/**
 * A connection to another server, which is not trusted: every byte that it sends counts, from the first one of the socket,
 * those of TLS, of informational responses (RFC 9110, section 15.2) and of headers included.
 */
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { withoutBrackets } from '../network.ts'
import { failure, OVER_BUDGET, SILENT } from './failures.ts'

/** The request failed before there was a connection, so that another address may be tried. */
class ConnectError extends Error {}

export interface ConnectionOptions {
  /** Bytes that the other server may send. */
  budgetBytes: number
  /** Time for TCP, the proxy and TLS together. */
  connectTimeoutMs: number
  /** How long the other server may neither send nor take anything. */
  silenceMs?: number | undefined
  signal?: AbortSignal | undefined
  /** An HTTP proxy that the connection passes through. */
  proxy?: URL | undefined
  /** Trusted certificate authorities in addition to the usual ones: for tests. */
  ca?: string | undefined
}

export interface Connection {
  /** Over TLS if the URL says so. */
  stream: Duplex
  /** Why it was closed before its end, whatever error its user sees; undefined if it was not. */
  failure(): Error | undefined
}

/**
 * Connects to an address of a URL's host, or of the proxy: the name in the URL is only what TLS verifies. Throws
 * {@link ConnectError} with the cause if there is no connection.
 */
async function connect(address: string, url: URL, options: ConnectionOptions): Promise<Connection> {
  const { budgetBytes, connectTimeoutMs, silenceMs = 0, signal, proxy, ca } = options
  const socket = connectTcp(proxy ? portOf(proxy) : portOf(url), address)
  const metered = new MeteredSocket(socket, budgetBytes)
  const timer = setTimeout(() => metered.destroy(failure('ETIMEDOUT', 'timed out')), connectTimeoutMs)
  const abort = () => metered.destroy(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  metered.once('close', () => signal?.removeEventListener('abort', abort))
  const silent = () => metered.destroy(failure(SILENT, `neither sent nor received anything for ${silenceMs / 1_000} s`))
  socket.setTimeout(silenceMs, silent)
  const { promise: closed, reject } = Promise.withResolvers<never>()
  metered.once('close', () => reject(metered.failure ?? failure('ECONNRESET', 'closed')))
  closed.catch(() => {})
  async function opened(): Promise<Duplex> {
    await once(socket, 'connect')
    let stream: Duplex = metered
    if (proxy) {
      if (proxy.protocol === 'https:') stream = await secured(stream, proxy, ca)
      await tunnel(stream, `${url.hostname}:${portOf(url)}`, proxy)
    }
    return url.protocol === 'https:' ? secured(stream, url, ca) : stream
  }
  try {
    return { stream: await Promise.race([opened(), closed]), failure: () => metered.failure }
  } catch (error) {
    metered.destroy()
    throw new ConnectError('no connection', { cause: metered.failure ?? error })
  } finally {
    clearTimeout(timer)
  }
}

/** The addresses of a host, as the system knows them. */
export const systemAddresses = async (hostname: string): Promise<string[]> =>
  (await lookup(hostname, { all: true })).map(({ address }) => address)

/** Connects to the first address that accepts a connection. */
export async function connectToFirst(
  addresses: readonly string[],
  url: URL,
  options: ConnectionOptions,
): Promise<Connection> {
  let last: unknown
  for (const address of addresses) {
    try {
      return await connect(address, url, options)
    } catch (error) {
      if (!(error instanceof ConnectError) || options.signal?.aborted) throw error
      last = error.cause
    }
  }
  throw last
}

const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80)

async function secured(socket: Duplex, { hostname }: URL, ca: string | undefined): Promise<Duplex> {
  const host = withoutBrackets(hostname)
  const secure = connectTls({ socket, ...(isIP(host) === 0 && { servername: host }), ...(ca && { ca }) })
  await once(secure, 'secureConnect')
  return secure
}

/** Asks a proxy for a connection to a host and port (RFC 9110, section 9.3.6). */
function tunnel(socket: Duplex, authority: string, { username, password, host }: URL): Promise<void> {
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  const headers = { host: authority, ...(username && { 'proxy-authorization': `Basic ${credentials}` }) }
  return new Promise((resolve, reject) => {
    requestHttp({ method: 'CONNECT', path: authority, headers, createConnection: () => socket })
      .once('connect', ({ statusCode, statusMessage }: IncomingMessage) => {
        if (statusCode === 200) resolve()
        else reject(failure('PROXY', `the proxy ${host} returned ${statusCode} ${statusMessage}`))
      })
      .once('response', ({ statusCode, statusMessage }) =>
        reject(failure('PROXY', `the proxy ${host} returned ${statusCode} ${statusMessage}`)),
      )
      .on('error', reject)
      .end()
  })
}

/**
 * A socket with a budget of bytes to receive. What is beyond it stays unread, and the socket is closed when its user has read
 * the rest.
 */
class MeteredSocket extends Duplex {
  /** Why it was closed before its end. */
  failure: Error | undefined
  readonly #socket: Socket
  /** Bytes that may still be received; negative once there were more. */
  #rest: number
  #isEnded = false

  constructor(socket: Socket, budgetBytes: number) {
    super()
    this.#socket = socket
    this.#rest = budgetBytes
    socket.on('data', (chunk: Buffer) => {
      const isSpent = chunk.length > this.#rest
      const isFull = !this.push(chunk.subarray(0, this.#rest))
      this.#rest = isSpent ? -1 : this.#rest - chunk.length
      if (isFull || isSpent) socket.pause()
    })
    socket.on('end', () => this.#end())
    socket.on('close', () => this.#end())
    socket.on('error', (error) => this.destroy(error))
    socket.on('timeout', () => this.emit('timeout'))
    // Whoever uses the stream has the error as well, or no longer wants it.
    this.on('error', () => {})
  }

  /** As that of a socket, which clients of other protocols set themselves. */
  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms)
    return this
  }

  #end(): void {
    if (!this.#isEnded) this.push(null)
    this.#isEnded = true
  }

  override _read(): void {
    if (this.#rest >= 0) this.#socket.resume()
    // The beginning of a body is with the HTTP client by now, and a stream that is destroyed at once would drop it.
    else setImmediate(() => this.destroy(failure(OVER_BUDGET, 'sent too much')))
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.failure ??= error ?? undefined
    this.#socket.destroy()
    // TLS reports what is wrong with a certificate after it has closed the socket.
    setImmediate(() => done(error))
  }
}
