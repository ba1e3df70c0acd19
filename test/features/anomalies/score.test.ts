import { describe, expect, test } from 'bun:test'
import { array, assert, bigInt, property, tuple } from 'fast-check'
import { excessOf } from '../../../src/features/anomalies/score.ts'

const dollars = (...amounts: number[]) => amounts.map((amount) => BigInt(Math.round(amount * 1e9)))
const excess = (amount: number, past: number[], minimum = 0) =>
  excessOf(dollars(amount)[0]!, dollars(...past), dollars(minimum)[0]!)

/** The median is 11, the median absolute deviation 1. */
const PAST = [10, 12, 11, 13, 9, 10, 11, 12, 10, 11]

describe('An amount', () => {
  test('is an outlier above a score of 3.5, by the median absolute deviation', () => {
    // 0.6745 × 5.18 is 3.494, 0.6745 × 5.2 is 3.507.
    expect(excess(16.18, PAST)).toBeUndefined()
    expect(excess(16.2, PAST)).toEqual({ usualNanos: 11_000_000_000n, score: expect.closeTo(3.5074, 9) })
  })

  test('is compared by the mean absolute deviation where more than half of the past is the same', () => {
    // The mean absolute deviation is 3: the threshold is 10 + 3.5 × 1.253314 × 3 = 23.1598.
    const past = [10, 10, 10, 10, 10, 10, 10, 20, 20, 20]
    expect(excess(23.15, past)).toBeUndefined()
    expect(excess(23.17, past)).toEqual({ usualNanos: 10_000_000_000n, score: expect.closeTo(3.50275, 4) })
  })

  test('is an outlier without a score from double of a past that was always the same', () => {
    const past = [10, 10, 10]
    expect(excess(19.99, past)).toBeUndefined()
    expect(excess(20, past)).toEqual({ usualNanos: 10_000_000_000n, score: null })
    expect(excess(30, [0, 0, 0], 30)).toEqual({ usualNanos: 0n, score: null })
  })

  test('is usual if it is low, below the minimum above the median, or without a past', () => {
    expect(excess(0, PAST)).toBeUndefined()
    expect(excess(31, PAST, 20.01)).toBeUndefined()
    expect(excess(31, PAST, 20)).toBeDefined()
    expect(excess(1_000, [])).toBeUndefined()
    expect(excess(0, [0, 0, 0])).toBeUndefined()
  })

  test('of an even number of others is compared with the mean of the two in the middle', () => {
    expect(excess(100, [10, 13, 20, 30])?.usualNanos).toBe(16_500_000_000n)
  })

  test('is compared with half of the past although the rest is far above it', () => {
    expect(excess(40, [...PAST, 5_000, 7_000, 9_000])?.usualNanos).toBe(11_000_000_000n)
  })
})

const nanos = bigInt({ min: 0n, max: 20_000_000_000_000_000_000n })
const anyPast = array(nanos, { minLength: 1, maxLength: 40 })

test('more is never less of an outlier, and the order of the past does not matter', () => {
  assert(
    property(tuple(nanos, nanos, anyPast, nanos), ([one, other, past, minimum]) => {
      const [less, more] = one < other ? [one, other] : [other, one]
      const found = excessOf(less, past, minimum)
      expect(excessOf(less, past.toReversed(), minimum)).toEqual(found)
      if (!found) return
      const further = excessOf(more, past, minimum)!
      expect(further.usualNanos).toBe(found.usualNanos)
      if (found.score === null) expect(further.score).toBeNull()
      else expect(further.score).toBeGreaterThanOrEqual(found.score)
    }),
  )
})

test('the usual amount is between the lowest and the highest, and the amount at least the minimum above it', () => {
  assert(
    property(tuple(nanos, anyPast, nanos), ([amount, past, minimum]) => {
      const found = excessOf(amount, past, minimum)
      if (!found) return
      expect(past.some((each) => each <= found.usualNanos) && past.some((each) => each >= found.usualNanos)).toBe(true)
      expect(amount - found.usualNanos >= minimum).toBe(true)
    }),
  )
})
