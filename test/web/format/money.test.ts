import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { setLocale } from '../../../src/web/format/locale.ts'
import { billedMoney, columnMoney, exactMoney, fineMoney, money, roughMoney } from '../../../src/web/format/money.ts'

/** An amount of nano-dollars, as the API sends it. */
const amount = fc.integer({ min: -1e15, max: 1e15 }).map((nanos) => nanos / 1e9)

/** The number in `$1,234.57` or `-€0.0634`. */
const numberIn = (text: string) => Number(text.replace(/[^0-9.-]/g, ''))

test('an amount other than zero is never shown as zero', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        amount,
        fc.integer({ min: 1, max: 1e6 }).map((nanos) => nanos / 1e9),
      ),
      (amount) => {
        expect(numberIn(money(amount)) === 0).toBe(amount === 0)
        if (amount > 0) expect(numberIn(fineMoney(amount))).toBeGreaterThan(0)
      },
    ),
  )
})

test('the amount shown on hover is exact to the nano-dollar', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (nanos) => {
      expect(Math.round(numberIn(exactMoney(nanos / 1e9)) * 1e9)).toBe(nanos)
    }),
  )
})

test('an amount from one dollar is shown to the cent', () => {
  fc.assert(
    fc.property(
      amount.filter((amount) => Math.abs(amount) >= 1),
      (amount) => {
        expect(money(amount)).toMatch(/^-?\$[0-9,]+\.[0-9]{2}$/)
        expect(Math.abs(numberIn(money(amount)) - amount)).toBeLessThan(0.00501)
      },
    ),
  )
})

test('an amount below one dollar keeps the digits that matter', () => {
  expect([0, 0.0634, -0.5, 0.00000123].map((amount) => money(amount))).toEqual([
    '$0.00',
    '$0.0634',
    '-$0.5000',
    '$0.00000123',
  ])
})

test('a column of small amounts cuts no digit off a large one', () => {
  const shown = [0, 0.00001, 2.36, 999.5, 12_345.678, 1_230_000, 123_456_789.12].map((amount) => fineMoney(amount))
  expect(shown).toEqual(['$0.0000', '<$0.0001', '$2.3600', '$999.5000', '$12,345.6780', '$1,230,000.00', '$123.5M'])
})

test('an amount of a bill has the decimals of its currency', () => {
  expect([billedMoney(1234.5, 'EUR'), billedMoney(1234.5, 'JPY'), billedMoney(1234.5, 'KWD')]).toEqual([
    '€1,234.50',
    '¥1,235',
    'KWD\u00a01,234.500',
  ])
})

test('an axis has short amounts', () => {
  expect([0, 0.5, 950, 1_234, 5_600_000].map((amount) => roughMoney(amount))).toEqual([
    '$0',
    '$0.5',
    '$950',
    '$1.2K',
    '$5.6M',
  ])
})

test('all amounts in a column have the decimals of the currency, and none but zero reads as zero', () => {
  expect([0, 0.0004, -0.0004, 0.5, 12_345.678].map((amount) => columnMoney(amount))).toEqual([
    '$0.00',
    '<$0.01',
    '>-$0.01',
    '$0.50',
    '$12,345.68',
  ])
  expect(columnMoney(1_234, 'JPY')).toBe('¥1,234')
})

test('the locale decides separators, with Latin digits in each', () => {
  try {
    setLocale('de-DE')
    expect([columnMoney(1_234.5), roughMoney(1_234.5)]).toEqual(['1.234,50\u00a0$', '1,2K\u00a0$'])
    setLocale('ar-EG')
    expect(columnMoney(1_234.5)).toMatch(/1,234\.50/)
  } finally {
    setLocale('en-GB')
  }
})
