import { expect, test } from 'bun:test'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { type FigureOrder, readFigurePage, writeFigurePage } from '../../../../src/features/selection/order.ts'

const BY_COST: FigureOrder = { sort: 'cost', order: 'desc', after: undefined, section: undefined }

test('a page by a figure begins where the one before ended, of the same order only', () => {
  const sections = [undefined, { from: -5, to: undefined }, { from: undefined, to: 0 }, { from: 1, to: 2 }]
  for (const section of sections) {
    for (const value of [null, 0n, -5n, 2n ** 63n - 1n, undefined]) {
      if (value === undefined && section === undefined) continue
      const after = value === undefined ? undefined : { value, id: 7 }
      const page = writeFigurePage({ ...BY_COST, after, section })
      expect(readFigurePage(BY_COST, page)).toEqual({ after, section })
      expect(readFigurePage({ ...BY_COST, order: 'asc' }, page)).toBeUndefined()
      expect(readFigurePage({ ...BY_COST, sort: 'tokens' }, page)).toBeUndefined()
    }
  }
})

test.each([
  'cost.desc.9223372036854775808.1',
  'cost.desc.9999999999999999999.1',
  'cost.desc.1.',
  'cost.desc..',
  'cost.desc....',
  'cost.desc.1..2.3',
])('the page %p is not one of Tally', (text) => {
  const page = Buffer.from(text).toString('base64url')
  expect(() => readListQuery({ sort: 'cost', page }, 'UTC')).toThrow(/next_page of an earlier response/)
})
