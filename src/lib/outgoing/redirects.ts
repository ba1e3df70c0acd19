/** Where a download may lead. */
import { failure } from './failures.ts'
import { isSafeAddress } from './safe-address.ts'
import type { PeerResponse } from './send.ts'

/** Published files are one or two redirects away. */
const REDIRECT_LIMIT = 5

const originOf = (address: string) => (URL.canParse(address) ? new URL(address).origin : 'an invalid address')

/**
 * The response after redirects, each of which must be as safe as the first address. Throws `REDIRECT` if one is not, or if
 * there are more than five.
 *
 * @param close is called with each redirect
 */
export async function followed<Response extends Pick<PeerResponse, 'status' | 'headers'>>(
  first: string,
  request: (address: string) => Promise<Response>,
  close: (response: Response) => void = () => {},
): Promise<Response> {
  const isLocal = first.startsWith('http:')
  let address = first
  for (let redirects = 0; redirects <= REDIRECT_LIMIT; redirects += 1) {
    const response = await request(address)
    const { location } = response.headers
    if (response.status < 300 || response.status > 399 || location === undefined) return response
    close(response)
    address = URL.canParse(location, address) ? new URL(location, address).href : location
    if (!isSafeAddress(address) || (address.startsWith('http:') && !isLocal)) {
      throw failure('REDIRECT', `it redirects to ${originOf(address)}, which is not encrypted`)
    }
  }
  throw failure('REDIRECT', `it redirects more than ${REDIRECT_LIMIT} times`)
}
