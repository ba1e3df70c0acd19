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
