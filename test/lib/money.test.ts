import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseRawJson } from '../../src/lib/exact-json.ts'
import {
  decimalNumber,
  decimalText,
  divideHalfEven,
  formatDecimal,
  parseDecimal,
  parseExactDecimal,
} from '../../src/lib/money.ts'
import { runs } from '../support/tier.ts'

describe('decimal text', () => {
  const read: [string, bigint | undefined][] = [
    ['1', 1_000_000_000n],
    ['-0.5', -500_000_000n],
    ['.5', 500_000_000n],
    ['5.', 5_000_000_000n],
    ['-0', 0n],
    ['1E+2', 100_000_000_000n],
    ['0.0000000005', 0n],
    ['0.0000000015', 2n],
    ['0.0000000025', 2n],
    ['0.00000000250000000000000000000000000001', 3n],
    ['-0.0000000015', -2n],
    ['999999999.999999999', 999_999_999_999_999_999n],
    ['0.9999999999', 1_000_000_000n],
    ['1e-30', 0n],
    ['0e99999', 0n],
    ['9e-99999', 0n],
    [`0.${'9'.repeat(100_000)}`, 1_000_000_000n],
    [`${'0'.repeat(100_000)}1`, 1_000_000_000n],
    [`1${'0'.repeat(500)}e-500`, 1_000_000_000n],
    [`0.${'0'.repeat(500)}1e501`, 1_000_000_000n],
    ['1e400', undefined],
    ['1e99999999999999999999', undefined],
    ['', undefined],
    ['.', undefined],
    ['e5', undefined],
    ['1e', undefined],
    ['1,5', undefined],
    ['0x10', undefined],
    ['NaN', undefined],
  ]
  for (const [text, nanos] of read) {
    const name = text.length > 50 ? `${text.slice(0, 10)}… of ${text.length} characters` : `'${text}'`
    test(`${name} is ${nanos === undefined ? 'no amount' : `${nanos} nano-dollars`}`, () => {
      expect(parseDecimal(text, 9)).toBe(nanos)
    })
  }

  test('is rounded as the division that it stands for', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 40n), 10n ** 40n), fc.integer({ min: 0, max: 60 }), (units, finer) => {
        expect(parseDecimal(formatDecimal(units, 9 + finer), 9)).toBe(divideHalfEven(units, 10n ** BigInt(finer)))
        expect(parseDecimal(`${units}e-${9 + finer}`, 9)).toBe(divideHalfEven(units, 10n ** BigInt(finer)))
      }),
    )
  })

  test('gives back what was written', () => {
    fc.assert(fc.property(fc.bigInt(), (units) => expect(parseDecimal(formatDecimal(units, 9), 9)).toBe(units)))
  })
})

test('what is finer than asked for is not taken as exact, however fine it is', () => {
  expect(['12.5', '1e-4', '-100', '0', '0.00010000', '0e-99'].map((text) => parseExactDecimal(text, 4))).toEqual([
    125_000n,
    1n,
    -1_000_000n,
    0n,
    1n,
    0n,
  ])
  expect(
    ['1.00001', '1e-5', '1e-9', '1e-999999', '0.00005', 'x', ''].map((text) => parseExactDecimal(text, 4)),
  ).toEqual(Array(7).fill(undefined))
})

describe('a decimal number in JSON', () => {
  const isPlain = (units: bigint, digits: number) => {
    const text = formatDecimal(units, digits)
    return String(Number(text)) === text
  }
  const expectExact = (units: bigint, digits: number) => {
    const number = decimalNumber(units, digits)
    const json = JSON.stringify(number)
    const exact = units <= Number.MAX_SAFE_INTEGER && units >= Number.MIN_SAFE_INTEGER ? Number(units) : units
    expect(decimalText(exact, digits)).toBe(json)
    expect(JSON.stringify(parseRawJson(`[{"cost":${json}}]`))).toBe(`[{"cost":${json}}]`)
    expect(JSON.stringify({ number })).toBe(`{"number":${formatDecimal(units, digits)}}`)
    // Raw JSON is slow, so it is used only where it is needed.
    expect(typeof number === 'number').toBe(isPlain(units, digits))
  }

  test('has exactly the digits of the amount, whatever their number', () => {
    const amount = fc.oneof(
      fc.bigInt(-(10n ** 6n), 10n ** 6n),
      fc.bigInt(-(10n ** 17n), 10n ** 17n),
      fc.bigInt(-(10n ** 40n), 10n ** 40n),
    )
    fc.assert(fc.property(amount, fc.integer({ min: 0, max: 22 }), expectExact), { numRuns: runs(20_000) })
  })

  test('has exactly the digits of amounts next to a power of ten', () => {
    for (let digits = 0; digits <= 22; digits++) {
      for (let power = 0n; power <= 25n; power++) {
        for (const near of [-1n, 0n, 1n]) {
          expectExact(10n ** power + near, digits)
          expectExact(-(10n ** power) - near, digits)
        }
      }
    }
  })
})
