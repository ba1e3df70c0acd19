import { expect, test } from 'bun:test'
import { inDollars, sizeText } from '../../src/cli/terminal/numbers.ts'

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

test.each([
  [1, '1 byte'],
  [999, '999 bytes'],
  [12_345, '12.3 kB'],
  [999_949, '1,000 kB'],
  [999_950, '1 MB'],
  [99_949_999, '99.9 MB'],
  [1_204_300_000, '1,204 MB'],
])('the size %p reads %p', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
