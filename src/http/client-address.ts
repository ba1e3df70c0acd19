/** Determines the client address of a request. */
import { BlockList, isIP, isIPv6 } from 'node:net'

/** What is needed here of Bun's server; null where a call never went over a socket. */
export type Listening = {
  requestIP(request: Request): { address: string } | null
  /** Requests that are not answered yet. */
  pendingRequests?: number
} | null

const family = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** Addresses, and networks such as `10.0.0.0/8`, that `config.ts` has checked. */
function listOf(proxies: readonly string[]): BlockList {
  const list = new BlockList()
  for (const proxy of proxies) {
    const [address, bits] = proxy.split('/') as [string, string?]
    if (bits === undefined) list.addAddress(address, family(address))
    else list.addSubnet(address, Number(bits), family(address))
  }
  return list
}

/** How some proxies tell an address: with the port of the connection, which each call may have another of. */
const WITH_PORT = /^(?:\[(?<inBrackets>[^\]]*)\]|(?<dotted>[\d.]+))(?::\d+)?$/

/** How a socket for both families tells an IPv4 address. */
const MAPPED = /^::ffff:(?=[\d.]+$)/i

/** The address in one spelling, as failures are counted by it; undefined where the text is none. */
function readAddress(text: string): string | undefined {
  const { inBrackets, dotted } = WITH_PORT.exec(text)?.groups ?? {}
  const address = (inBrackets ?? dotted ?? text).replace(MAPPED, '')
  return isIP(address) === 0 ? undefined : address
}

export type AddressOf = (request: Request, server: Listening) => string

/**
 * Tells the address of whoever opened the connection; where that is a trusted proxy, the one that it tells in
 * X-Forwarded-For, and so on. From others the header is worth nothing: anybody can send it.
 */
export function clientAddresses(trustedProxies: readonly string[]): AddressOf {
  const trusted = listOf(trustedProxies)
  return (request, server) => {
    const socket = server?.requestIP(request)?.address ?? 'unknown'
    let address = readAddress(socket) ?? socket
    const told = request.headers.get('x-forwarded-for')?.split(',') ?? []
    while (told.length > 0 && trusted.check(address, family(address))) {
      const next = readAddress(told.pop()!.trim())
      if (next === undefined) break
      address = next
    }
    return address
  }
}
