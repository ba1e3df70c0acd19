import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { budgetUse } from '../../../src/web/pages/work/budget-use.ts'

test('a budget is highlighted from 80% on, and exceeded only above 100%', () => {
  expect([79.99, 80, 100, 100.01].map((used) => budgetUse(used, 100).state)).toEqual([
    'within',
    'nearly',
    'nearly',
    'over',
  ])
})

test('a budget is exceeded exactly if more was used than it allows', () => {
  const cents = fc.integer({ min: 0, max: 1e9 }).map((cents) => cents / 100)
  fc.assert(
    fc.property(cents, cents, (used, budget) => {
      expect(budgetUse(used, budget).state === 'over').toBe(used > budget)
    }),
  )
})

test('the use of a budget is shown as a share, and above it as the excess', () => {
  expect([budgetUse(90, 200).text, budgetUse(212.5, 200).text, budgetUse(5, 0).text, budgetUse(0, 0).text]).toEqual([
    '45.0% of $200.00',
    '$12.50 over $200.00',
    '$5.00 over $0.00',
    '0.0% of $0.00',
  ])
})
