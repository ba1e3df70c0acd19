/**
 * The network that identifies a client by its address. An IPv6 client has 2^64 addresses, so only its /64 network
 * counts; an IPv4 address is returned as it is.
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('%', 1)[0]!.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  const groups = [...before, ...zeros, ...after].slice(0, 4)
  // `2001:db8:0::` and `2001:0DB8::` are the same network in two spellings.
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

// Not imported above: that takes 15 ms, for which an agent would wait at each of its hooks.
const net = () => process.getBuiltinModule('node:net')

const familyOf = (address: string) => (net().isIPv6(address) ? 'ipv6' : 'ipv4')

/** Whether a text is an IP address, or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = net().isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32))
}

/** Returns whether an address is in one of these networks, all of which {@link isNetwork}. */
export function networkTest(networks: readonly string[]): (address: string) => boolean {
  const { BlockList, isIP } = net()
  const list = new BlockList()
  for (const network of networks) {
    const [address, bits] = network.split('/') as [string, string?]
    if (bits === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(bits), familyOf(address))
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}

/** The brackets are those of an IPv6 address in a URL. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')
