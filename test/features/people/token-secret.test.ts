import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  hashOfSecret,
  hexHashOfSecret,
  hintOfSecret,
  issueOfSecret,
  newSecret,
} from '../../../src/features/people/tokens/secret.ts'
import { randomBase62, toBase62 } from '../../../src/lib/base62.ts'

const kinds = ['svc', 'read', 'org'] as const

describe('the secret of a token', () => {
  test.each(kinds)('begins with tally_%s_ and has 38 letters and digits behind it', (kind) => {
    expect(newSecret(kind)).toMatch(new RegExp(`^tally_${kind}_[0-9A-Za-z]{38}$`))
  })

  test('ends with the CRC32 of what precedes, in base 62', () => {
    // Computed apart from the code, from the polynomial of IEEE 802.3.
    const crc32 = (text: string) => {
      let crc = 0xffffffff
      for (const byte of Buffer.from(text)) {
        crc ^= byte
        for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
      }
      return (crc ^ 0xffffffff) >>> 0
    }
    for (const kind of kinds) {
      const secret = newSecret(kind)
      expect(secret.slice(-6)).toBe(toBase62(crc32(secret.slice(0, -6)), 6))
    }
  })

  test('is never the same twice', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => newSecret('svc'))).size).toBe(1_000)
  })

  test('is valid as it was created', () => {
    for (const kind of kinds) expect(issueOfSecret(newSecret(kind))).toBeUndefined()
  })

  test('with any one character changed is mistyped', () => {
    const secret = newSecret('svc')
    fc.assert(
      fc.property(fc.integer({ min: 6, max: secret.length - 1 }), fc.constantFrom(...'aZ09_ é'), (at, character) => {
        fc.pre(secret[at] !== character)
        return issueOfSecret(secret.slice(0, at) + character + secret.slice(at + 1)) === 'mistyped'
      }),
    )
  })

  test.each([
    ['cut off', (secret: string) => secret.slice(0, -1)],
    ['doubled', (secret: string) => secret + secret],
    ['of another kind', (secret: string) => secret.replace('_svc_', '_org_')],
    ['of no kind', (secret: string) => secret.replace('_svc_', '_adm_')],
    ['the prefix alone', () => 'tally_svc_'],
  ])('that is %s is mistyped', (_what, change) => {
    expect(issueOfSecret(change(newSecret('svc')))).toBe('mistyped')
  })

  test.each(['', 'ghp_abc', 'TALLY_svc_x'])('of another program (%p) is recognized', (text) => {
    expect(issueOfSecret(text)).toBe('foreign')
  })

  test('is recognised by the first six of its random characters', () => {
    const secret = newSecret('read')
    expect(hintOfSecret(secret)).toBe(secret.slice('tally_read_'.length, 'tally_read_'.length + 6))
  })

  test('is kept as its SHA-256', () => {
    const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(hexHashOfSecret('abc')).toBe(abc)
    expect(Buffer.from(hashOfSecret('abc')).toString('hex')).toBe(abc)
  })
})

describe('base 62', () => {
  test('uses each of its characters about equally often', () => {
    const counts = new Map<string, number>()
    for (const character of randomBase62(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1)
    expect(counts.size).toBe(62)
    // Six standard deviations around 1,000: a biased source misses it, an honest one once in ten million runs.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(190)
  })

  test('holds every 32-bit number in six characters', () => {
    expect(toBase62(0, 6)).toBe('000000')
    expect(toBase62(61, 6)).toBe('00000z')
    expect(toBase62(62, 6)).toBe('000010')
    expect(toBase62(0xffffffff, 6)).toBe('4gfFC3')
  })
})
