import { expect, test } from 'bun:test'
import { fineMoney } from '../../../src/web/format/money.ts'

test('a column of small amounts cuts no digit off a large one', () => {
  const shown = [0, 0.00001, 2.36, 999.5, 12_345.678, 123_456_789.12].map((amount) => fineMoney(amount))
  expect(shown).toEqual(['$0.0000', '<$0.0001', '$2.3600', '$999.5000', '$12,345.68', '$123.5M'])
})
