/**
 * Sends HTTP requests to other servers. What one of them may cost is bounded: bytes, from the first one of the socket, and
 * seconds; no redirect is followed.
 */
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { getProxyForUrl } from 'proxy-from-env'
import { withoutBrackets } from '../network.ts'
import { type Connection, type ConnectionOptions, connectToFirst, systemAddresses } from './connection.ts'
import { failure } from './failures.ts'

export interface OutgoingRequest {
  method: 'GET' | 'POST' | 'PUT' | 'HEAD' | 'DELETE'
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

export interface PeerResponse {
  status: number
  statusText: string
  headers: IncomingHttpHeaders
  /** Throws if it ends early. Closes the connection at its end, or when it is left. */
  body: AsyncIterable<Uint8Array>
  /** Closes the connection if the body is not wanted. */
  close(): void
}

export interface SendOptions extends Pick<ConnectionOptions, 'signal' | 'silenceMs' | 'ca'> {
  /** How large a body may be. A quarter more and a little may be headers, framing and TLS. */
  bodyBytes: number
  /**
   * The addresses of a host that may be used. Without it, the host may have any, and the request passes through the proxy
   * that the environment names (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
   */
  addressesOf?: ((hostname: string) => Promise<string[]>) | undefined
}

/** A server that runs answers within milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000

/** Headers, informational responses, and the certificates of TLS. */
const OVERHEAD_BYTES = 65_536

const PIECE_BYTES = 65_536

/**
 * Returns the response, whose body the caller reads or leaves. Throws what the connection failed with; its code is that of
 * Node.js, or `OVER_BUDGET`.
 */
export async function send(request: OutgoingRequest, options: SendOptions): Promise<PeerResponse> {
  const url = new URL(request.url)
  const { signal, addressesOf } = options
  signal?.throwIfAborted()
  const proxy = addressesOf ? undefined : proxyFor(url)
  const hostname = withoutBrackets((proxy ?? url).hostname)
  const addresses = await withinTime((addressesOf ?? systemAddresses)(hostname), signal)
  const connection = await connectToFirst(addresses, url, {
    ...options,
    budgetBytes: 1.25 * options.bodyBytes + OVERHEAD_BYTES,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    proxy,
  })
  try {
    const response = await responseTo(request, url, connection)
    const { statusCode = 0, statusMessage = '', headers } = response
    const body = bodyOf(response, connection)
    return { status: statusCode, statusText: statusMessage, headers, body, close: () => connection.stream.destroy() }
  } catch (error) {
    connection.stream.destroy()
    throw connection.failure() ?? error
  }
}

async function* bodyOf(response: IncomingMessage, { stream, failure }: Connection): AsyncGenerator<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>
  } catch (error) {
    throw failure() ?? error
  } finally {
    stream.destroy()
  }
}

function proxyFor({ href }: URL): URL | undefined {
  const text = getProxyForUrl(href)
  if (!text) return undefined
  const proxy = URL.canParse(text) ? new URL(text) : undefined
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy
  throw failure('PROXY', 'the proxy that the environment names is not an http:// or https:// address')
}

async function withinTime<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal?.removeEventListener('abort', abort))
}

function responseTo(
  { method, headers, body = '' }: OutgoingRequest,
  url: URL,
  { stream }: Connection,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body)
    const request = requestHttp({
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, 'content-length': String(bytes.length), connection: 'close' },
      createConnection: () => stream,
    })
    request.once('response', resolve)
    request.once('close', () => reject(failure('ECONNRESET', 'closed')))
    // Remains: errors after the response are those of its body, and must not end the process.
    request.on('error', reject)
    writeInPieces(request, bytes)
  })
}

/** So that a slow connection shows that it takes them, and holds no copy of all. */
function writeInPieces(request: ClientRequest, bytes: Uint8Array): void {
  let at = 0
  const more = () => {
    while (at < bytes.length) {
      const piece = bytes.subarray(at, at + PIECE_BYTES)
      at += piece.length
      if (!request.write(piece)) return void request.once('drain', more)
    }
    request.end()
  }
  more()
}
