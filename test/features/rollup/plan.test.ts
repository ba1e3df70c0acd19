import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { hoursOf, type Period, planReading, type Range, rangeOfHour } from '../../../src/features/rollup/plan.ts'
import { runs } from '../../support/tier.ts'

const DAY = 86_400_000
const HOUR = 3_600_000

/** Days 0 to 59, months of 30 days. */
function periods(staleDays: number[] = [], missingMonths: number[] = []): Period[] {
  const days = Array.from({ length: 60 }, (_, day): Period => {
    const state = staleDays.includes(day) ? 'stale' : 'clean'
    return { id: day, level: 'day', startsAt: day * DAY, endsAt: (day + 1) * DAY, state }
  })
  const months = [0, 1]
    .filter((month) => !missingMonths.includes(month))
    .map((month): Period => {
      return {
        id: 100 + month,
        level: 'month',
        startsAt: month * 30 * DAY,
        endsAt: (month + 1) * 30 * DAY,
        state: 'clean',
      }
    })
  return [...months, ...days].sort((a, b) => a.startsAt - b.startsAt)
}

function plan(bounds: number[], state: { periods: Period[]; staleHours?: number[] }) {
  const within = { from: bounds[0]!, to: bounds.at(-1)! }
  const read = planReading(bounds, within, { zone: 'UTC', staleHours: [], ...state })
  return { ids: read.periods.map(({ id }) => id), raw: read.raw, cut: read.cut.map(({ id }) => id) }
}

test('a bucket takes whole months, then days, and its ragged ends from the entries of days', () => {
  const { ids, cut, raw } = plan([29.5 * DAY, 62 * DAY], { periods: periods() })
  expect([ids, cut, raw]).toEqual([[101], [29], []])
  expect(plan([28 * DAY, 31 * DAY], { periods: periods() }).ids).toEqual([28, 29, 30])
})

test('of a day across the end of a bucket, the entries serve both, and its sums none', () => {
  const { ids, cut, raw } = plan([0, 2.5 * DAY, 5 * DAY], { periods: periods() })
  expect([ids, cut, raw]).toEqual([[0, 1, 3, 4], [2], []])
})

test('a mark makes its day and month unusable, and no other', () => {
  const { ids, raw } = plan([0, 60 * DAY], { periods: periods([], []), staleHours: [31 * 24 + 5] })
  expect(ids).toEqual([100, 30, ...Array.from({ length: 28 }, (_, at) => 32 + at)])
  expect(raw).toEqual([{ from: 31 * DAY, to: 32 * DAY }])
})

test('a time without a day is read only where something has just changed', () => {
  expect(plan([-10 * DAY, -5 * DAY], { periods: [] })).toEqual({ ids: [], cut: [], raw: [] })
  const { raw } = plan([100 * DAY, 110 * DAY], { periods: [], staleHours: [102 * 24, 102 * 24 + 1, 109 * 24 + 23] })
  expect(raw).toEqual([
    { from: 102 * DAY, to: 102 * DAY + 2 * HOUR },
    { from: 110 * DAY - HOUR, to: 110 * DAY },
  ])
})

test('every moment that has a row is read once, from where it may be, and within one bucket', () => {
  const position = fc.integer({ min: -48, max: 62 * 24 }).map((hour) => hour * HOUR)
  fc.assert(
    fc.property(
      fc.uniqueArray(position, { minLength: 2, maxLength: 12 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { maxLength: 5 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 60 * 24 - 1 }), { maxLength: 5 }),
      fc.subarray([0, 1]),
      (moments, staleDays, hours, missingMonths) => {
        const bounds = moments.sort((a, b) => a - b)
        const staleHours = hours.sort((a, b) => a - b)
        const known = periods(staleDays, missingMonths).filter(
          ({ level, id }) => level === 'day' || !staleDays.some((day) => Math.floor(day / 30) === id - 100),
        )
        const within = { from: bounds[0]!, to: bounds.at(-1)! }
        const read = planReading(bounds, within, { zone: 'UTC', periods: known, staleHours })
        const pieces: Range[] = [
          ...read.raw,
          ...[...read.periods, ...read.cut].map(({ startsAt, endsAt }) => ({ from: startsAt, to: endsAt })),
        ]
        for (let hour = Math.max(within.from, 0); hour < Math.min(within.to, 60 * DAY); hour += HOUR) {
          expect(pieces.filter(({ from, to }) => from <= hour && hour < to)).toHaveLength(1)
        }
        for (const { startsAt, endsAt, state } of read.periods) {
          expect(state).toBe('clean')
          expect(staleHours.some((hour) => hour * HOUR >= startsAt && hour * HOUR < endsAt)).toBe(false)
          expect(bounds.some((bound) => bound > startsAt && bound < endsAt)).toBe(false)
        }
      },
    ),
    { numRuns: runs(300, 100) },
  )
})

test('a change is marked within the hours of every range that holds it, also before 1970', () => {
  fc.assert(
    fc.property(fc.integer({ min: -3 * DAY, max: 3 * DAY }), (moment) => {
      const mark = Math.trunc(moment / HOUR)
      const { from, to } = rangeOfHour(mark)
      expect(from <= moment && moment < to).toBe(true)
      const { first, last } = hoursOf({ from: moment, to: moment + 1 })
      expect(first <= mark && mark <= last).toBe(true)
    }),
  )
})
