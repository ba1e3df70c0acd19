/**
 * Posts one message to an endpoint. What a receiver may cost is bounded: seconds and bytes; and it is never followed to
 * another address.
 */
import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { AddressError } from './addresses.ts'

export interface PostResult {
  /** Null if there was no response. */
  status: number | null
  /** The beginning of the response. */
  response: string
  /** Why the message counts as not delivered; null if it was delivered. */
  error: string | null
  latencyMs: number
}

export interface Posting {
  url: URL
  headers: Record<string, string>
  body: string
}

export interface PostOptions {
  /** The addresses of a host that may be used. */
  addressesOf: (hostname: string) => Promise<string[]>
  connectTimeoutMs?: number
  timeoutMs?: number
  /** Trusted certificate authorities in addition to the usual ones: for tests. */
  ca?: string | undefined
}

/** A server that runs answers within milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000

/** Standard Webhooks asks for 15 to 30 seconds: receivers should answer first and work afterwards. */
const TIMEOUT_MS = 15_000

/** Enough for any message of an error, and little to hold for fifty endpoints. */
const RESPONSE_LIMIT_BYTES = 16_384

/** No more is stored: some servers answer with pages. */
const KEPT_CHARACTERS = 1_000

/** The request failed before there was a connection, so that another address may be tried. */
class ConnectError extends Error {}

/** Never throws: whatever goes wrong is a result. */
export async function post(posting: Posting, options: PostOptions): Promise<PostResult> {
  const { timeoutMs = TIMEOUT_MS } = options
  const startedAt = performance.now()
  const signal = AbortSignal.timeout(timeoutMs)
  const ended = (result: Omit<PostResult, 'latencyMs'>): PostResult => ({
    ...result,
    latencyMs: Math.round(performance.now() - startedAt),
  })
  try {
    const addresses = await withinTime(options.addressesOf(posting.url.hostname), signal)
    return ended(await postToFirst(addresses, posting, options, signal))
  } catch (error) {
    const text = signal.aborted
      ? `The endpoint did not respond within ${timeoutMs / 1_000} s. Respond first, and process the event afterwards.`
      : errorText(error as NodeJS.ErrnoException, posting.url)
    return ended({ status: null, response: '', error: text })
  }
}

async function withinTime<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}

/** Connects to the first address that accepts a connection. */
async function postToFirst(
  addresses: readonly string[],
  posting: Posting,
  options: PostOptions,
  signal: AbortSignal,
): Promise<Omit<PostResult, 'latencyMs'>> {
  let last: unknown
  for (const address of addresses) {
    try {
      return await postTo(address, posting, options, signal)
    } catch (error) {
      if (!(error instanceof ConnectError) || signal.aborted) throw error
      last = error.cause
    }
  }
  throw last
}

async function postTo(
  address: string,
  { url, headers, body }: Posting,
  { connectTimeoutMs = CONNECT_TIMEOUT_MS, ca }: PostOptions,
  signal: AbortSignal,
): Promise<Omit<PostResult, 'latencyMs'>> {
  const isHttps = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const bytes = Buffer.from(body)
  const given: RequestOptions = {
    method: 'POST',
    // The address that was checked. The name is only in the Host header, and in what TLS verifies.
    host: address,
    port: url.port || (isHttps ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, 'content-length': String(bytes.length), connection: 'close' },
    agent: false,
    signal,
  }
  const request = isHttps
    ? requestHttps({ ...given, ...(isIP(host) === 0 && { servername: host }), ...(ca !== undefined && { ca }) })
    : requestHttp(given)
  try {
    const response = await responseTo(request, bytes, { connectTimeoutMs, isHttps })
    return resultOf(response, await beginningOf(response))
  } finally {
    request.destroy()
  }
}

function responseTo(
  request: ClientRequest,
  body: Buffer,
  { connectTimeoutMs, isHttps }: { connectTimeoutMs: number; isHttps: boolean },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let isConnected = false
    const timer = setTimeout(() => {
      request.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }))
    }, connectTimeoutMs)
    request.on('socket', (socket) => {
      socket.once(isHttps ? 'secureConnect' : 'connect', () => {
        isConnected = true
        clearTimeout(timer)
      })
    })
    request.once('response', (response) => {
      clearTimeout(timer)
      resolve(response)
    })
    request.once('close', () => {
      clearTimeout(timer)
      reject(new Error('closed'))
    })
    // Remains: errors after the response are those of its body, and must not end the process.
    request.on('error', (error) => {
      clearTimeout(timer)
      reject(isConnected ? error : new ConnectError('no connection', { cause: error }))
    })
    request.end(body)
  })
}

/**
 * The status decides, so a body that is cut off, never ends or is endless changes nothing: what arrives of its first
 * kilobytes is kept for people.
 */
function beginningOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = () => {
      response.destroy()
      resolve(textOf(Buffer.concat(chunks)))
    }
    response.on('data', (chunk: Buffer) => {
      const rest = RESPONSE_LIMIT_BYTES - size
      size += chunk.length
      chunks.push(chunk.subarray(0, rest))
      if (size >= RESPONSE_LIMIT_BYTES) finish()
    })
    for (const event of ['end', 'close', 'error', 'aborted']) response.once(event, finish)
  })
}

/** U+0000 cannot be stored in PostgreSQL, and other control characters would move the cursor of a terminal. */
function textOf(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .slice(0, KEPT_CHARACTERS)
    .toWellFormed()
}

function resultOf({ statusCode = 0, headers }: IncomingMessage, response: string): Omit<PostResult, 'latencyMs'> {
  if (statusCode >= 200 && statusCode < 300) return { status: statusCode, response, error: null }
  if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
    const error = `The endpoint returned ${statusCode}, a redirect, which Tally does not follow. Enter the address that it leads to.`
    return { status: statusCode, response, error }
  }
  return { status: statusCode, response, error: `The endpoint returned ${statusCode}.` }
}

const CERTIFICATE_ERROR = /^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/

function errorText(error: NodeJS.ErrnoException, { host, hostname }: URL): string {
  const { code = '', message } = error
  if (error instanceof AddressError) return message
  if (code === 'ECONNREFUSED') return `${host} refused the connection. Check that the receiver is running.`
  if (code === 'ETIMEDOUT') return `${host} did not accept a connection in time. Check the address and its firewall.`
  if (code === 'ECONNRESET' || message === 'closed') return `${host} closed the connection without a response.`
  if (CERTIFICATE_ERROR.test(code)) return `The certificate of ${hostname} is not valid: ${message}.`
  if (code.startsWith('HPE_')) return `${host} did not respond with valid HTTP: ${message}.`
  return `The request to ${host} failed: ${message}.`
}
