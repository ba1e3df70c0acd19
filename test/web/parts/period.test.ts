import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { addDays, addMonths, daysBetween, firstOfMonth } from '../../../src/web/format/moments.ts'
import {
  asBounds,
  before,
  isPeriod,
  ownPeriod,
  PERIODS,
  type Period,
  periodBefore,
  periodInWords,
  readPeriod,
} from '../../../src/web/parts/period.ts'

const day = fc.integer({ min: 0, max: 20_000 }).map((days) => addDays('2000-01-01', days))
const period = fc
  .tuple(day, fc.integer({ min: 0, max: 800 }))
  .map(([from, days]): Period => ({ from, to: addDays(from, days) }))
const wholeMonths = fc
  .tuple(day, fc.integer({ min: 1, max: 24 }))
  .map(([day, months]): Period => ({ from: firstOfMonth(day), to: addDays(addMonths(day, months), -1) }))

const lengthOf = ({ from, to }: Period) => daysBetween(from, to) + 1
const monthsOf = ({ from, to }: Period) => {
  let months = 0
  while (addMonths(from, months) <= to) months += 1
  return months
}

test('a period of one’s own is read from the address as it was written', () => {
  fc.assert(fc.property(period, (period) => expect(readPeriod(ownPeriod(period), 'UTC')).toEqual(period)))
})

test('an address may name a period that does not exist', () => {
  const names = ['month', '30d', '2026-02-01..2026-02-28', '2026-02-01..2026-02-30', '2026-02-02..2026-02-01', 'soon']
  expect(names.filter(isPeriod)).toEqual(['month', '30d', '2026-02-01..2026-02-28'])
  expect(readPeriod('2026-02-01..2026-02-30', 'UTC')).toEqual(readPeriod('30d', 'UTC'))
})

test('the previous period ends the day before, and is as long', () => {
  fc.assert(
    fc.property(fc.oneof(period, wholeMonths), (period) => {
      const previous = periodBefore(period)
      expect(addDays(previous.to, 1)).toBe(period.from)
      const isWholeMonths = period.from.endsWith('-01') && addDays(period.to, 1).endsWith('-01')
      if (isWholeMonths) {
        expect(previous.from).toEndWith('-01')
        expect(monthsOf(previous)).toBe(monthsOf(period))
      } else {
        expect(lengthOf(previous)).toBe(lengthOf(period))
      }
    }),
  )
})

test('this month, quarter and year are compared with the same days of the one before', () => {
  const comparedOn = (day: string) => {
    const now = new Date(`${day}T12:00:00Z`)
    return ['month', 'quarter', 'year'].map((name) => ownPeriod(periodBefore(readPeriod(name, 'UTC', now), name)))
  }
  expect(comparedOn('2026-11-26')).toEqual([
    '2026-10-01..2026-10-26',
    '2026-07-01..2026-08-26',
    '2025-01-01..2025-11-26',
  ])
  // Of a whole month, all days of the other one; of a longer month, those that there are.
  expect(comparedOn('2026-03-31')[0]).toBe('2026-02-01..2026-02-28')
  expect(comparedOn('2026-03-30')[0]).toBe('2026-02-01..2026-02-28')
  expect(comparedOn('2026-02-28')[0]).toBe('2026-01-01..2026-01-31')
  expect(comparedOn('2028-02-29')).toEqual([
    '2028-01-01..2028-01-31',
    '2027-10-01..2027-11-30',
    '2027-01-01..2027-02-28',
  ])
  expect(comparedOn('2026-12-31')).toEqual([
    '2026-11-01..2026-11-30',
    '2026-07-01..2026-09-30',
    '2025-01-01..2025-12-31',
  ])
})

test('named periods end today in the organization’s zone, and last month ends with its last day', () => {
  const now = new Date('2026-03-01T01:00:00Z')
  const named = (zone: string) =>
    Object.fromEntries(Object.keys(PERIODS).map((name) => [name, ownPeriod(readPeriod(name, zone, now))]))
  expect(named('Europe/Berlin')).toEqual({
    '7d': '2026-02-23..2026-03-01',
    '30d': '2026-01-31..2026-03-01',
    '90d': '2025-12-02..2026-03-01',
    month: '2026-03-01..2026-03-01',
    'last-month': '2026-02-01..2026-02-28',
    quarter: '2026-01-01..2026-03-01',
    'last-quarter': '2025-10-01..2025-12-31',
    year: '2026-01-01..2026-03-01',
    'last-year': '2025-01-01..2025-12-31',
    '12m': '2025-04-01..2026-03-01',
  })
  expect(named('America/New_York')).toMatchObject({
    month: '2026-02-01..2026-02-28',
    'last-month': '2026-01-01..2026-01-31',
  })
})

test('an address without a valid period shows the last 30 days', () => {
  const now = new Date('2026-03-01T12:00:00Z')
  const usual = readPeriod('30d', 'UTC', now)
  for (const name of [undefined, '', 'toString', 'tomorrow', '2026-03-02..2026-03-01', '2026-03-01..']) {
    expect(readPeriod(name, 'UTC', now)).toEqual(usual)
  }
})

test('the API receives the day after the last one as the end', () => {
  fc.assert(
    fc.property(period, (period) => {
      const { starting_at, ending_at } = asBounds(period)
      expect(daysBetween(starting_at, ending_at)).toBe(lengthOf(period))
    }),
  )
})

test('everything before a day ends with the previous day', () => {
  expect(before('2026-03-01')).toEqual({ from: '2000-01-01', to: '2026-02-28' })
})

test('a period is written as a day, a month, a quarter, a year or its first and last day', () => {
  const shown = (from: string, to: string) => periodInWords({ from, to })
  expect(shown('2026-11-21', '2026-11-21')).toBe('21 Nov 2026')
  expect(shown('2026-02-01', '2026-02-28')).toBe('Feb 2026')
  expect(shown('2026-02-01', '2026-02-27')).toBe('1 Feb 2026 – 27 Feb 2026')
  expect(shown('2026-10-01', '2026-12-31')).toBe('Q4 2026')
  expect(shown('2026-01-01', '2026-12-31')).toBe('2026')
  expect(shown('2026-01-01', '2026-02-28')).toBe('1 Jan 2026 – 28 Feb 2026')
})
