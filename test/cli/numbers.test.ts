import { expect, test } from 'bun:test'
import { inDollars } from '../../src/cli/terminal/numbers.ts'

test.each([
  [0, '$0.00'],
  [1234.5, '$1,234.50'],
  [-1.5, '-$1.50'],
  [0.001, '<$0.01'],
  [-0.001, '>-$0.01'],
  [null, 'unknown cost'],
])('the sum %p reads %p within a sentence', (amount, text) => {
  expect(inDollars(amount)).toBe(text)
})
