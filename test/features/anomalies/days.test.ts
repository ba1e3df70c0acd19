import { expect, test } from 'bun:test'
import { comparedCosts, hasPast, pastDays } from '../../../src/features/anomalies/days.ts'

/** A Monday. */
const DAY = '2026-11-23'
const SATURDAY = '2026-11-21'

const costsOn = (...days: string[]) => new Map(days.map((day) => [day, BigInt(day.replaceAll('-', ''))]))
const weekdayOf = (day: string) => new Date(day).getUTCDay()
const isWeekend = (day: string) => [0, 6].includes(weekdayOf(day))

test('the past is four weeks, up to the day before', () => {
  const days = pastDays(DAY)
  expect([days.length, days[0], days.at(-1)]).toEqual([28, '2026-10-26', '2026-11-22'])
})

test('a day is compared with days of its kind', () => {
  const [past, before] = [pastDays(DAY), pastDays(SATURDAY)]
  const daysOf = (costs: bigint[]) => costs.map(String).map((text) => text.replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3'))
  expect(daysOf(comparedCosts(DAY, costsOn(...past, DAY)))).toEqual(past.filter((day) => !isWeekend(day)))
  expect(daysOf(comparedCosts(SATURDAY, costsOn(...before, SATURDAY)))).toEqual(before.filter(isWeekend))
})

test('a day of the weekend is compared with all days if there was usage on less than five of these', () => {
  const before = pastDays(SATURDAY)
  const working = before.filter((day) => !isWeekend(day))
  const weekend = before.filter(isWeekend)
  expect(comparedCosts(SATURDAY, costsOn(...working, ...weekend.slice(0, 4)))).toHaveLength(24)
  expect(comparedCosts(SATURDAY, costsOn(...working, ...weekend.slice(0, 5)))).toHaveLength(5)
})

test('a day is compared with nothing if there was usage on less than ten days before', () => {
  const past = pastDays(DAY)
  // Neither the day itself nor an earlier one counts.
  const nine = costsOn('2026-10-25', ...past.slice(0, 9), DAY)
  expect([hasPast(DAY, nine), comparedCosts(DAY, nine)]).toEqual([false, []])
  expect(hasPast(DAY, costsOn(...past.slice(0, 10)))).toBe(true)
})
