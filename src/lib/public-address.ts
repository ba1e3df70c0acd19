/**
 * Which addresses are on the public internet. A server that sends requests to addresses that people choose must not reach
 * the machines behind its firewall, nor the credentials that clouds serve at 169.254.169.254.
 */
import { networkTest } from './network.ts'

/** IPv4 networks that are not globally reachable: the IANA special-purpose registry, multicast and the reserved rest. */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  // Relays of 6to4, which lead anywhere.
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/**
 * The only IPv6 network that is assigned for global unicast. Outside of it are loopback, link-local, unique local and
 * multicast addresses, and those that contain an IPv4 address: mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96).
 */
const GLOBAL_IPV6 = ['2000::/3']

/** Within {@link GLOBAL_IPV6}: protocol assignments with Teredo, documentation, and 6to4, which contains an IPv4 address. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const isSpecialIpv4 = once(SPECIAL_IPV4)
const isGlobalIpv6 = once(GLOBAL_IPV6)
const isSpecialIpv6 = once(SPECIAL_IPV6)

/** Whether an IP address is reachable from everywhere, and belongs to no private or special network. */
export function isPublicAddress(address: string): boolean {
  if (address.includes(':')) return isGlobalIpv6(address) && !isSpecialIpv6(address)
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(address) && !isSpecialIpv4(address)
}

/** Built at the first use: every command imports this module, and hardly any asks. */
function once(networks: readonly string[]): (address: string) => boolean {
  let isWithin: ((address: string) => boolean) | undefined
  return (address) => {
    isWithin ??= networkTest(networks)
    return isWithin(address)
  }
}
