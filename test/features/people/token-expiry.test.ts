import { describe, expect, test } from 'bun:test'
import { stateOfToken } from '../../../src/features/people/tokens/token.ts'
import { parseDuration, parseMoment } from '../../../src/lib/duration.ts'

const HOUR_MS = 3_600_000

describe('a duration', () => {
  test.each([
    ['30min', HOUR_MS / 2],
    ['12h', 12 * HOUR_MS],
    ['90d', 90 * 24 * HOUR_MS],
    [' 2w ', 14 * 24 * HOUR_MS],
  ])('%p is read', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds)
  })

  test.each(['', '90', 'd', '-1d', '1.5h', '1y', '3m', '1 day', '9999999d'])('%p is none', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })
})

describe('a moment', () => {
  test.each([
    ['2027-01-01', '2027-01-01T00:00:00.000Z'],
    ['2027-01-01T08:00:00+01:00', '2027-01-01T07:00:00.000Z'],
    ['2028-02-29T23:59:59.999Z', '2028-02-29T23:59:59.999Z'],
    ['2027-01-01t08:00:00z', '2027-01-01T08:00:00.000Z'],
  ])('%p is read', (text, iso) => {
    expect(new Date(parseMoment(text, 'UTC')!).toISOString()).toBe(iso)
  })

  test.each([
    ['without an offset', '2027-01-01T08:00:00'],
    ['on a day that no calendar has', '2027-02-30'],
    ['on a day that no calendar has, with a time', '2027-02-29T08:00:00Z'],
    ['in an hour that no clock shows', '2027-01-01T25:00:00Z'],
    ['in words', 'tomorrow'],
    ['as a number', '1795203638351'],
    ['in another order', '01/02/2027'],
  ])('%s is refused', (_what, text) => {
    expect(parseMoment(text, 'UTC')).toBeUndefined()
  })
})

describe('the state of a token', () => {
  const creator = { id: 1, uid: 'usr_0' as const, email: '', name: '', role: 'admin' as const, disabledAt: null }
  const token = { kind: 'svc' as const, expiresAt: null, revokedAt: null, creator }

  test('is usable while nothing speaks against it', () => {
    expect(stateOfToken(token, 100)).toBe('usable')
    expect(stateOfToken({ ...token, expiresAt: 101 }, 100)).toBe('usable')
  })

  test('is expired from its moment on', () => {
    expect(stateOfToken({ ...token, expiresAt: 100 }, 100)).toBe('expired')
  })

  test('is revoked whatever else it is', () => {
    expect(stateOfToken({ ...token, revokedAt: 50, expiresAt: 60 }, 100)).toBe('revoked')
  })

  test('is stopped while its creator is disabled, unless the token is the organization’s', () => {
    const disabled = { ...creator, disabledAt: 50 }
    expect(stateOfToken({ ...token, creator: disabled }, 100)).toBe('stopped')
    expect(stateOfToken({ ...token, kind: 'read', creator: disabled }, 100)).toBe('stopped')
    expect(stateOfToken({ ...token, kind: 'org', creator: disabled }, 100)).toBe('usable')
  })
})
