/** Determines the client address of a request. */
import { isIP } from 'node:net'
import { networkTest } from '../lib/network.ts'

/** The needed part of Bun's server; null if a call did not arrive over a socket. */
export type Listening = {
  requestIP(request: Request): { address: string } | null
  /** Requests without a response yet. */
  pendingRequests?: number
} | null

/** Some proxies add the connection's port to the address, which may differ for each call. */
const WITH_PORT = /^(?:\[(?<inBrackets>[^\]]*)\]|(?<dotted>[\d.]+))(?::\d+)?$/

/** A dual-stack socket's form of an IPv4 address. */
const MAPPED = /^::ffff:(?=[\d.]+$)/i

/**
 * The address in its normalized spelling, because failures are counted by address; undefined if the text is not an
 * address.
 */
function readAddress(text: string): string | undefined {
  const { inBrackets, dotted } = WITH_PORT.exec(text)?.groups ?? {}
  const address = (inBrackets ?? dotted ?? text).replace(MAPPED, '')
  return isIP(address) === 0 ? undefined : address
}

/** For whom Tally sends a request to itself, and whether it was counted as theirs when it arrived; see `http/mcp.ts`. */
export const innerRequests = new WeakMap<Request, { address: string; isCounted: boolean }>()

export type AddressOf = (request: Request, server: Listening) => string

/**
 * Returns the address of the client that opened the connection; if that is a trusted proxy, the address that it adds to
 * X-Forwarded-For, and so on. From others the header is ignored, because anyone can send it.
 */
export function clientAddresses(trustedProxies: readonly string[]): AddressOf {
  const isTrusted = networkTest(trustedProxies)
  return (request, server) => {
    const inner = innerRequests.get(request)
    if (inner) return inner.address
    const socket = server?.requestIP(request)?.address ?? 'unknown'
    let address = readAddress(socket) ?? socket
    const forwarded = request.headers.get('x-forwarded-for')?.split(',') ?? []
    while (forwarded.length > 0 && isTrusted(address)) {
      const next = readAddress(forwarded.pop()!.trim())
      if (next === undefined) break
      address = next
    }
    return address
  }
}
