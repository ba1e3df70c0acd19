import { expect, test } from 'bun:test'
import { missingDecimals } from '../../../src/web/pages/prices/price.ts'
import { inOrder } from '../../../src/web/parts/row-order.ts'
import { stretchOf } from '../../../src/web/parts/table-frame.ts'
import { titleOf } from '../../../src/web/shell/open-count.ts'

const names = (order: 'asc' | 'desc') => inOrder(['T-10', null, 't-9', 'T-2'], (name) => name, order)

test('rows are ordered as people count, and those without a value are last in both orders', () => {
  expect(names('asc')).toEqual(['T-2', 't-9', 'T-10', null])
  expect(names('desc')).toEqual(['T-10', 't-9', 'T-2', null])
  expect(inOrder([3, undefined, 0, 20], (number) => number, 'desc')).toEqual([20, 3, 0, undefined])
})

test('columns of fixed width share what a wide screen has more than the text needs', () => {
  const columns = [undefined, '100px', '200px'].map((width, at) => ({
    key: String(at),
    title: 'x',
    cell: () => null,
    ...(width && { width }),
  }))
  expect([900, 1_060, 5_000].map((width) => stretchOf(width, columns))).toEqual([1, 1.4, 1.7])
  // The text needs 640 px, the share 200 of 1,000: there is no more.
  const shared = [{ ...columns[1]!, width: '20%' }, ...columns]
  expect([1_000, 1_400, 5_000].map((width) => stretchOf(width, shared))).toEqual([1, 1.6, 1.7])
})

test('prices of a column are aligned at the decimal point', () => {
  expect([3, 0.075, 1.25, 0.00125, null].map(missingDecimals)).toEqual(['.0000', '0', '00', '', '.0000'])
})

test('the title of the window names the page, and what waits', () => {
  expect([
    titleOf(0, 'Overview', 'Meridian'),
    titleOf(1_200, 'Overview', 'Meridian'),
    titleOf(3, undefined, 'M'),
  ]).toEqual(['Overview – Meridian', '(1,200) Overview – Meridian', '(3) M'])
})
