import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { count, roughCount } from '../../../src/web/format/counts.ts'
import { exactMoney, money } from '../../../src/web/format/money.ts'
import {
  hasUnreadable,
  type NumberRead,
  plainNumber,
  readCount,
  readDecimal,
} from '../../../src/web/format/read-numbers.ts'

const outcomeOf = (read: NumberRead) => ('issue' in read ? read.issue : read.value)
const usd = (text: string) => outcomeOf(readDecimal(text, { digits: 9, currency: 'USD' }))

describe('a count', () => {
  test.each<[string, number | '']>([
    ['', ''],
    ['  ', ''],
    ['0', 0],
    ['1234567', 1_234_567],
    ['1,234,567', 1_234_567],
    ['1 234 567', 1_234_567],
    ['1\u00a0234\u00a0567', 1_234_567],
    ['1\u202f234\u202f567', 1_234_567],
    ['1\u2009234', 1_234],
    ['1.23 M', 1_230_000],
    ['1.23M', 1_230_000],
    ['1.5M', 1_500_000],
    ['515k', 515_000],
    ['515K', 515_000],
    ['0.515M', 515_000],
    ['2.5B', 2_500_000_000],
    ['12.3M tokens', 12_300_000],
    [' 1,234\n', 1_234],
    ['1.0', 1],
  ])('%j is %p', (text, value) => {
    expect(outcomeOf(readCount(text))).toBe(value)
  })

  test.each([
    ['3.400', /3,400 or 3\.4/],
    ['3.400M', /3,400,000,000 or 3,400,000/],
    ['1.5', /not a whole number/],
    ['1.2345k', /not a whole number/],
    ['-5', /0 or more/],
    ['1.234.567', /can’t be read/],
    ['1,23', /can’t be read/],
    ['12 34', /can’t be read/],
    ['1e6', /can’t be read/],
    ['5 apples', /can’t be read/],
    ['12,34,567', /can’t be read/],
    ['99999999999999999999', /at most/],
  ])('%j is refused in words', (text, words) => {
    expect(outcomeOf(readCount(text))).toMatch(words)
  })

  test('has limits and a unit', () => {
    expect(outcomeOf(readCount('30 days', { unit: 'days', max: 365 }))).toBe(30)
    expect(outcomeOf(readCount('366', { unit: 'days', max: 365 }))).toBe('Must be at most 365.')
    expect(outcomeOf(readCount('0', { min: 1 }))).toBe('Must be 1 or more.')
  })
})

describe('an amount', () => {
  test.each<[string, number | '']>([
    ['', ''],
    ['1234.5', 1_234.5],
    ['$1,234.50', 1_234.5],
    ['1 234.50', 1_234.5],
    ['USD 5', 5],
    ['5 USD', 5],
    ['US$5', 5],
    ['$0.0150', 0.015],
    ['.5', 0.5],
    ['0.000000001', 1e-9],
    ['-$5.00', -5],
    ['−5', -5],
  ])('%j is %p', (text, value) => {
    expect(usd(text)).toBe(value)
  })

  test.each([
    ['1.234,50', /after a point/],
    ['0,50', /after a point/],
    ['1,5', /after a point/],
    ['€5', /in USD/],
    ['1.23M', /in USD, such as 1,234.50/],
    ['$515k', /in USD/],
    ['<$0.0001', /in USD/],
    ['0.0000000001', /at most 9 decimals/],
    ['1234567890123456', /at most 15 digits/],
  ])('%j is refused in words', (text, words) => {
    expect(usd(text)).toMatch(words)
  })

  test('is in the currency of its field, and a percentage has none', () => {
    expect(outcomeOf(readDecimal('€5', { digits: 2, currency: 'EUR' }))).toBe(5)
    expect(outcomeOf(readDecimal('12.5 %', { digits: 4, unit: '%' }))).toBe(12.5)
    expect(outcomeOf(readDecimal('1,5', { digits: 4, unit: '%' }))).toMatch(/after a point/)
    expect(outcomeOf(readDecimal('5k', { digits: 4 }))).toMatch(/can’t be read/)
    expect(outcomeOf(readDecimal('120', { digits: 4, max: 100 }))).toBe('Must be at most 100.')
  })
})

/** Up to a hundred trillion tokens. */
const counts = fc.integer({ min: 0, max: 1e14 })

test('an exact count that Tally shows is read back as the same', () => {
  fc.assert(
    fc.property(counts, fc.constantFrom(',', ' ', '\u00a0', '\u2009', '\u202f', ''), (value, separator) => {
      expect(readCount(count(value).replaceAll(',', separator))).toEqual({ value })
      expect(readCount(plainNumber(value))).toEqual({ value })
    }),
  )
})

test('a rounded count that Tally shows is read back as what is shown', () => {
  fc.assert(
    fc.property(counts, (value) => {
      const shown = roughCount(value)
      const read = readCount(shown) as { value: number }
      expect(roughCount(read.value)).toBe(shown)
      expect(Math.abs(read.value - value)).toBeLessThanOrEqual(value * 0.005)
    }),
  )
})

test('an amount that Tally shows is read back as what is shown', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e15 + 1, max: 1e15 - 1 }),
      fc.constantFrom('USD', 'EUR', 'JPY'),
      (nanos, currency) => {
        const amount = nanos / 1e9
        const rules = { digits: 9, currency }
        expect(readDecimal(exactMoney(amount, currency), rules)).toEqual({ value: amount === 0 ? 0 : amount })
        expect(readDecimal(plainNumber(amount), rules)).toEqual({ value: amount === 0 ? 0 : amount })
        const shown = money(amount, currency)
        expect(money((readDecimal(shown, rules) as { value: number }).value, currency)).toBe(shown)
      },
    ),
  )
})

test('nothing is dropped: what is read has all digits of the text', () => {
  const texts = fc.string({ unit: fc.constantFrom(...'0123456789.,  kM-$%e\u202f'), maxLength: 12 })
  fc.assert(
    fc.property(texts, (text) => {
      for (const read of [readCount(text), readDecimal(text, { digits: 9, currency: 'USD' })]) {
        if ('issue' in read || read.value === '') continue
        const digits = (written: string) => written.replace(/\D/g, '').replace(/^0+|0+$/g, '')
        expect(digits(plainNumber(read.value))).toBe(digits(text))
      }
    }),
    { numRuns: 5_000 },
  )
})

test('a form with a number that could not be read is found, however deep it is', () => {
  expect(hasUnreadable({ parts: [{ size: Number.NaN }] })).toBe(true)
  expect(hasUnreadable({ parts: [{ size: 1 }], at: new Date(Number.NaN), text: 'NaN', none: null })).toBe(false)
})
