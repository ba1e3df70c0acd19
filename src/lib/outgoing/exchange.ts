/** One request and its whole response as plain data, which passes from thread to thread. */
import { addressFinder } from './addresses.ts'
import { failure, NO_RESPONSE, OVER_BUDGET } from './failures.ts'
import { type OutgoingRequest, type PeerResponse, type SendOptions, send } from './send.ts'

export interface Exchange extends OutgoingRequest {
  bodyBytes: number
  /** Of the whole. */
  timeoutMs: number
  /**
   * Besides addresses on the public internet, those in these networks may be reached, and no proxy is used; any address may
   * be, and with a proxy of the environment, if absent.
   */
  privateNetworks?: readonly string[]
  ca?: string | undefined
}

export interface ExchangeResponse extends Omit<PeerResponse, 'body' | 'close'> {
  /** At most `bodyBytes` of it. */
  body: Uint8Array<ArrayBuffer>
  /** Why the body ended early; null if it did not. */
  cut: 'limit' | 'time' | 'connection' | null
}

/** Throws what {@link send} throws, and `NO_RESPONSE` after `timeoutMs`. */
export async function exchange(
  { bodyBytes, timeoutMs, privateNetworks, ca, ...request }: Exchange,
  onBytes: (bytes: number, total: number | undefined) => void = () => {},
  addressesOf: SendOptions['addressesOf'] = privateNetworks && addressFinder(privateNetworks),
): Promise<ExchangeResponse> {
  const signal = AbortSignal.timeout(timeoutMs)
  const {
    body,
    close: _,
    ...head
  } = await send(request, { bodyBytes, signal, addressesOf, ca }).catch((error) => {
    throw signal.aborted ? failure(NO_RESPONSE, `timed out after ${timeoutMs / 1_000} s`) : error
  })
  const total = Number(head.headers['content-length']) || undefined
  const chunks: Uint8Array[] = []
  let rest = bodyBytes
  let cut: ExchangeResponse['cut'] = null
  try {
    for await (const chunk of body) {
      chunks.push(chunk.subarray(0, rest))
      if (chunk.byteLength > rest) cut = 'limit'
      if (cut) break
      rest -= chunk.byteLength
      onBytes(bodyBytes - rest, total)
    }
  } catch (error) {
    if (signal.aborted) cut = 'time'
    else cut = (error as NodeJS.ErrnoException).code === OVER_BUDGET ? 'limit' : 'connection'
  }
  return { ...head, body: new Uint8Array(Buffer.concat(chunks)), cut }
}
