import { expect, test } from 'bun:test'
import { TimeBudget } from '../../../src/features/placement/time-budget.ts'

test('a person who has used up their share waits, and nobody else does', () => {
  let now = 0
  const budget = new TimeBudget({ now: () => now })
  const isRefused = (personId: number) => {
    try {
      budget.require(personId)
      return false
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited' })
      return true
    }
  }
  for (let count = 0; count < 10; count += 1) {
    expect(isRefused(1)).toBe(false)
    budget.charge(1, 100)
  }
  expect([isRefused(1), isRefused(2)]).toEqual([true, false])
  now += 30_000
  expect(isRefused(1)).toBe(false)
  budget.charge(1, 600)
  expect(isRefused(1)).toBe(true)
  // If the clock is set back, nothing is earned.
  now -= 60_000
  expect(isRefused(1)).toBe(true)
})
