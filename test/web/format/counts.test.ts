import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { count, counted, fileSize, percent, percentChange, roughCount } from '../../../src/web/format/counts.ts'

const SIZES: Record<string, number> = { k: 1e3, M: 1e6, B: 1e9, T: 1e12 }

/** The number in `1.23M` or `9,999`. */
function numberIn(text: string): number {
  const [, digits, unit] = /^([0-9.,]+)([kMBT]?)$/.exec(text)!
  return Number(digits!.replaceAll(',', '')) * (SIZES[unit!] ?? 1)
}

test('a rough count differs from the exact one by at most half a percent', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999e12 }), (value) => {
      expect(Math.abs(numberIn(roughCount(value)) - value)).toBeLessThanOrEqual(value * 0.005)
    }),
  )
})

test('a larger count never reads as a smaller one', () => {
  const value = fc.oneof(fc.integer({ min: 0, max: 2e6 }), fc.integer({ min: 0, max: 999e12 }))
  fc.assert(
    fc.property(value, value, (one, other) => {
      const [smaller, larger] = [one, other].sort((a, b) => a - b)
      expect(numberIn(roughCount(smaller!))).toBeLessThanOrEqual(numberIn(roughCount(larger!)))
    }),
  )
})

test('counts below 10,000 are shown in full, and larger ones with three digits', () => {
  expect([0, 9_999, 10_000, 999_499, 999_500, 999_950, 1_234_567, 5e9, 2.5e12].map(roughCount)).toEqual([
    '0',
    '9,999',
    '10.0k',
    '999k',
    '1.00M',
    '1.00M',
    '1.23M',
    '5.00B',
    '2.50T',
  ])
})

test('a counted noun is in the singular for one alone', () => {
  expect([0, 1, 1_204].map((value) => counted(value, 'entry', 'entries'))).toEqual([
    '0 entries',
    '1 entry',
    '1,204 entries',
  ])
  expect(counted(2, 'ticket')).toBe('2 tickets')
})

test('shares, counts and file sizes are short', () => {
  expect([percent(0.125), percent(1), count(1_234_567)]).toEqual(['12.5%', '100.0%', '1,234,567'])
  expect([0, 0.0001, 0.0005].map(percent)).toEqual(['0.0%', '< 0.1%', '0.1%'])
  expect([999, 1_500, 1_234_567].map(fileSize)).toEqual(['999 B', '1.5 kB', '1.23 MB'])
})

test('percentages of a column have one decimal each, and changes have a sign', () => {
  expect([0, 0.25, 0.354, 1].map(percent)).toEqual(['0.0%', '25.0%', '35.4%', '100.0%'])
  expect([-0.3, -0.00001, 0, 0.125].map(percentChange)).toEqual(['-30.0%', '0.0%', '0.0%', '+12.5%'])
})
