import { describe, expect, test } from 'bun:test'
import { clientAddresses } from '../../src/http/client-address.ts'

/** Who a call comes from that a socket tells to come from `socket`, with this X-Forwarded-For. */
function addressOf(socket: string, forwardedFor?: string): string {
  const request = new Request('http://localhost/', {
    headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
  })
  return clientAddresses(['127.0.0.1', '10.0.0.0/8', '2001:db8:1::/48'])(request, {
    requestIP: () => ({ address: socket }),
  })
}

describe('a call comes from', () => {
  test('the client of the connection, if it is not a trusted proxy', () => {
    expect(addressOf('192.0.2.7', '198.51.100.1')).toBe('192.0.2.7')
  })

  test('the address from the last trusted proxy', () => {
    expect(addressOf('127.0.0.1', '1.1.1.1, 198.51.100.1')).toBe('198.51.100.1')
    expect(addressOf('127.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.3')).toBe('198.51.100.1')
    expect(addressOf('2001:db8:1::7', '2001:db8:2::1')).toBe('2001:db8:2::1')
    expect(addressOf('127.0.0.1')).toBe('127.0.0.1')
  })

  test('the same address, whatever port a proxy adds to it', () => {
    expect(addressOf('127.0.0.1', '198.51.100.1:50123')).toBe('198.51.100.1')
    expect(addressOf('127.0.0.1', '[2001:db8:2::1]:50123')).toBe('2001:db8:2::1')
    expect(addressOf('127.0.0.1', '198.51.100.1, 10.0.0.3:443')).toBe('198.51.100.1')
  })

  test('an IPv4 address, even if a dual-stack socket reports it as IPv6', () => {
    expect(addressOf('::ffff:192.0.2.7')).toBe('192.0.2.7')
    expect(addressOf('::ffff:127.0.0.1', '::ffff:198.51.100.1')).toBe('198.51.100.1')
  })

  test('the proxy, if its header has no valid address', () => {
    for (const told of ['unknown', '_hidden', '', ' , ', '1.2.3', 'x'.repeat(1_000), '198.51.100.1, unknown']) {
      expect(addressOf('127.0.0.1', told)).toBe('127.0.0.1')
    }
  })
})
