import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ENCODINGS, encodingFor } from '../../src/http/accept-encoding.ts'

const LARGE = 100_000

function chosen(header: string | undefined, bytes = LARGE): string | undefined {
  const headers = header === undefined ? {} : { 'accept-encoding': header }
  return encodingFor(new Request('http://tally/', { headers }), bytes)
}

test.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP;Q=0.5', 'gzip'],
  ['gzip ; q=1.0 , br ; q=0.9', 'gzip'],
  ['zstd;q=0, br;q=0.000, gzip;q=0.001', 'gzip'],
  ['*', 'zstd'],
  ['*;q=0', undefined],
  ['zstd;q=0, *', 'br'],
  ['gzip;q=0.5, *;q=0.1', 'gzip'],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['identity;q=0, *;q=0.1', 'zstd'],
  ['identity;q=0', undefined],
  ['deflate, compress', undefined],
  ['gzip;q=2', undefined],
  ['gzip;q=-1, br;q=x', undefined],
  ['gzip;level=9', undefined],
  ['nogzip, gzipped', undefined],
])('Accept-Encoding: %s is answered with %s', (header, encoding) => {
  expect(chosen(header)).toBe(encoding)
})

test('small responses are compressed only for clients that refuse unencoded ones', () => {
  expect(chosen('gzip', 1_023)).toBeUndefined()
  expect(chosen('gzip', 1_024)).toBe('gzip')
  expect(chosen('gzip, identity;q=0', 10)).toBe('gzip')
  expect(chosen('gzip, *;q=0', 10)).toBe('gzip')
})

test('the encoding is one with the largest weight, and never refused', () => {
  const weight = fc.integer({ min: 0, max: 1_000 }).map((thousandths) => thousandths / 1_000)
  const names = fc.constantFrom(...ENCODINGS, 'identity', '*', 'deflate')
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(names, weight), { selector: ([name]) => name }), (elements) => {
      const weights = new Map<string, number>(elements)
      const encoding = chosen(elements.map(([name, q]) => `${name};q=${q}`).join(', '))
      const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0
      const most = Math.max(...ENCODINGS.map(weightOf))
      if (encoding === undefined) return most === 0 || (weights.get('identity') ?? 0) > most
      return weightOf(encoding) === most && most > 0
    }),
  )
})
