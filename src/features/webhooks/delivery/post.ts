/**
 * Posts one message to an endpoint. What a receiver may cost is bounded: seconds and bytes; and it is never followed to
 * another address.
 */
import { firstCharacters } from '../../../lib/characters.ts'
import type { Exchange, ExchangeResponse } from '../../../lib/outgoing/exchange.ts'
import { ADDRESS_REFUSED, NO_RESPONSE, OVER_BUDGET } from '../../../lib/outgoing/failures.ts'

export interface PostResult {
  /** Null if there was no response. */
  status: number | null
  /** The beginning of the response. */
  response: string
  /** Why the message counts as not delivered; null if it was delivered. */
  error: string | null
  latencyMs: number
}

export type Posting = Pick<Exchange, 'url' | 'privateNetworks' | 'ca'> & {
  headers: Record<string, string>
  body: string
  timeoutMs?: number
}

/** Standard Webhooks asks for 15 to 30 seconds: receivers should answer first and work afterwards. */
const TIMEOUT_MS = 15_000

/** Enough for any message of an error, and little to hold for fifty endpoints. */
const RESPONSE_LIMIT_BYTES = 16_384

/** No more is stored: some servers answer with pages. */
const KEPT_CHARACTERS = 1_000

/**
 * Never throws: whatever goes wrong is a result. The status decides, so a body that is cut off, never ends or is endless
 * changes nothing: what arrives of its first kilobytes is kept for people.
 *
 * @param exchange sends a request, usually on another thread
 */
export async function post(
  posting: Posting,
  exchange: (request: Exchange) => Promise<ExchangeResponse>,
): Promise<PostResult> {
  const startedAt = performance.now()
  const request = { method: 'POST', timeoutMs: TIMEOUT_MS, bodyBytes: RESPONSE_LIMIT_BYTES, ...posting } as const
  const result = await exchange(request).then(resultOf, (error: NodeJS.ErrnoException) => ({
    status: null,
    response: '',
    error: errorText(error, new URL(posting.url), request.timeoutMs),
  }))
  return { ...result, latencyMs: Math.round(performance.now() - startedAt) }
}

/** U+0000 cannot be stored in PostgreSQL, and other control characters would move the cursor of a terminal. */
function textOf(bytes: Uint8Array): string {
  return firstCharacters(new TextDecoder().decode(bytes).replaceAll(/[^\P{Cc}\n\t]/gu, ''), KEPT_CHARACTERS)
}

function resultOf({ status, headers, body }: ExchangeResponse): Omit<PostResult, 'latencyMs'> {
  const response = textOf(body)
  if (status >= 200 && status < 300) return { status, response, error: null }
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    const error = `The endpoint returned ${status}, a redirect, which Tally does not follow. Enter the address that it leads to.`
    return { status, response, error }
  }
  return { status, response, error: `The endpoint returned ${status}.` }
}

const CERTIFICATE_ERROR = /^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/

function errorText({ code = '', message }: NodeJS.ErrnoException, { host, hostname }: URL, timeoutMs: number): string {
  if (code === ADDRESS_REFUSED) return message
  if (code === NO_RESPONSE)
    return `The endpoint did not respond within ${timeoutMs / 1_000} s. Respond first, and process the event afterwards.`
  if (code === OVER_BUDGET) return `${host} ${message} before a response. Check the receiver.`
  if (code === 'ECONNREFUSED') return `${host} refused the connection. Check that the receiver is running.`
  if (code === 'ETIMEDOUT') return `${host} did not accept a connection in time. Check the address and its firewall.`
  if (code === 'ECONNRESET' || message === 'closed') return `${host} closed the connection without a response.`
  if (CERTIFICATE_ERROR.test(code)) return `The certificate of ${hostname} is not valid: ${message}.`
  if (code.startsWith('HPE_')) return `${host} did not respond with valid HTTP: ${message}.`
  return `The request to ${host} failed: ${message}.`
}
