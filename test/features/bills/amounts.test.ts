import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { apportion, billedExactly, roundToMinor, taxOn } from '../../../src/features/bills/amounts.ts'
import { minorDigitsOf } from '../../../src/features/bills/currency.ts'
import { dayAt, daysOfMonth, isDay, spanOf } from '../../../src/lib/calendar.ts'
import { issueOfNumberFormat, numberOf, sequenceScope } from '../../../src/shared/bill-numbers.ts'

const ONE = 10n ** 10n
const dollars = (text: string) => BigInt(Math.round(Number(text) * 1e9))

describe('amounts of a bill', () => {
  test('500 tickets of 0.004 bill 2.00, not nothing and not 5.00', () => {
    const shares = Array.from({ length: 500 }, () => billedExactly(dollars('0.004'), { markupPpm: 0, rate: ONE }))
    const amounts = apportion(shares, 2)
    expect(amounts.reduce((sum, amount) => sum + amount, 0n)).toBe(200n)
    expect(amounts.filter((amount) => amount === 1n)).toHaveLength(200)
  })

  test('a markup and an exchange rate are applied before anything is rounded', () => {
    const exact = billedExactly(dollars('10'), { markupPpm: 125_000, rate: (92n * ONE) / 100n })
    expect(roundToMinor(exact, 2)).toBe(1035n)
    expect(roundToMinor(billedExactly(dollars('0.0049'), { markupPpm: 0, rate: ONE }), 2)).toBe(0n)
  })

  test('halves go to the even minor unit', () => {
    const cents = (text: string) => roundToMinor(billedExactly(dollars(text), { markupPpm: 0, rate: ONE }), 2)
    expect([cents('0.005'), cents('0.015'), cents('0.025'), cents('0.035')]).toEqual([0n, 2n, 2n, 4n])
    expect(taxOn(250n, 190_000)).toBe(48n)
    expect(taxOn(50n, 10_000)).toBe(0n)
    expect(taxOn(-250n, 190_000)).toBe(-48n)
  })

  test('lines always add up to the sum rounded once, and each is within one unit of its share', () => {
    const share = fc.record({
      cost: fc.bigInt(0n, 10n ** 15n),
      markupPpm: fc.integer({ min: -1_000_000, max: 3_000_000 }),
    })
    fc.assert(
      fc.property(
        fc.array(share, { maxLength: 60 }),
        fc.bigInt(1n, 10n ** 13n),
        fc.constantFrom(0, 2, 3),
        (shares, rate, digits) => {
          const exact = shares.map(({ cost, markupPpm }) => billedExactly(cost, { markupPpm, rate }))
          const amounts = apportion(exact, digits)
          const unit = 10n ** BigInt(25 - digits)
          const sum = exact.reduce((total, one) => total + one, 0n)
          expect(amounts.reduce((total, amount) => total + amount, 0n)).toBe(roundToMinor(sum, digits))
          for (const [index, amount] of amounts.entries()) {
            const off = amount * unit - exact[index]!
            expect(off > -unit && off < unit).toBe(true)
            if (exact[index] === 0n) expect(amount).toBe(0n)
          }
        },
      ),
    )
  })

  test('minor units are those of ISO 4217, not of price tags', () => {
    expect(['JPY', 'USD', 'KWD', 'HUF', 'IQD', 'CLF', 'EUR'].map(minorDigitsOf)).toEqual([0, 2, 3, 2, 3, 4, 2])
  })
})

describe('numbers of bills', () => {
  test('are filled in from the day and the sequence', () => {
    expect(numberOf('{year}-{sequence:4}', { day: '2026-11-30', sequence: 7 })).toBe('2026-0007')
    expect(numberOf('R{year}{month}/{sequence}', { day: '2026-11-30', sequence: 12345 })).toBe('R202611/12345')
  })

  test('count within the year or the month that the format names', () => {
    expect(sequenceScope('{year}-{sequence:4}', '2026-11-30')).toBe('2026')
    expect(sequenceScope('{year}{month}-{sequence}', '2026-11-30')).toBe('2026-11')
    expect(sequenceScope('B{sequence:6}', '2026-11-30')).toBe('')
  })

  test('need a sequence, and nothing that a file or a bank cannot write', () => {
    const isFine = (format: string) => issueOfNumberFormat(format) === undefined
    expect(['{sequence}', '{year}-{sequence:4}', 'INV {year}/{month}/{sequence:5}'].map(isFine)).toEqual([
      true,
      true,
      true,
    ])
    expect(
      ['{year}', '{sequence}{sequence}', '{month}-{sequence}', '<{sequence}>', `${'x'.repeat(40)}{sequence}`].map(
        isFine,
      ),
    ).toEqual([false, false, false, false, false])
  })
})

describe('periods', () => {
  test('a month has its first and its last day', () => {
    expect(daysOfMonth('2026-11')).toEqual({ from: '2026-11-01', to: '2026-11-30' })
    expect(daysOfMonth('2028-02')).toEqual({ from: '2028-02-01', to: '2028-02-29' })
    expect(daysOfMonth('2026-13')).toBeUndefined()
  })

  test('reach from the first moment of the first day to that of the day after the last, where clocks change too', () => {
    const hours = ({ startingAt, endingAt }: { startingAt: number; endingAt: number }) =>
      (endingAt - startingAt) / 3_600_000
    expect(hours(spanOf({ from: '2026-10-25', to: '2026-10-25' }, 'Europe/Berlin'))).toBe(25)
    expect(hours(spanOf({ from: '2026-03-29', to: '2026-03-29' }, 'Europe/Berlin'))).toBe(23)
    expect(new Date(spanOf({ from: '2026-11-01', to: '2026-11-30' }, 'Asia/Kolkata').startingAt).toISOString()).toBe(
      '2026-10-31T18:30:00.000Z',
    )
    const october = spanOf(daysOfMonth('2026-10')!, 'Europe/Berlin')
    expect(october).toEqual({
      startingAt: Date.parse('2026-09-30T22:00:00Z'),
      endingAt: Date.parse('2026-10-31T23:00:00Z'),
    })
    // St. John's set its clocks back a minute after midnight: its Saturday was over by then, though they showed 23:15.
    expect(dayAt(Date.UTC(2010, 10, 7, 2, 45), 'America/St_Johns')).toBe('2010-11-07')
    expect(dayAt(Date.UTC(2026, 9, 31, 18, 30), 'Asia/Kolkata')).toBe('2026-11-01')
  })

  test('take days that the calendar has', () => {
    expect(['2026-02-29', '2028-02-29', '2026-1-1', '2026-11-31'].map(isDay)).toEqual([false, true, false, false])
  })
})
