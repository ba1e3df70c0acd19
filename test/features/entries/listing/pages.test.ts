import { expect, test } from 'bun:test'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { type FigurePosition, readFigurePage, writeFigurePage } from '../../../../src/features/selection/order.ts'

const BY_COST = { sort: 'cost', order: 'desc', after: undefined } as const

test('a page by a figure begins where the one before ended, of the same order only', () => {
  for (const value of [null, 0n, 2n ** 63n - 1n]) {
    const last: FigurePosition = { value, id: 7 }
    const page = writeFigurePage(BY_COST, last)
    expect(readFigurePage(BY_COST, page)).toEqual(last)
    expect(readFigurePage({ ...BY_COST, order: 'asc' }, page)).toBeUndefined()
    expect(readFigurePage({ ...BY_COST, sort: 'tokens' }, page)).toBeUndefined()
  }
})

test.each(['cost.desc.9223372036854775808.1', 'cost.desc.9999999999999999999.1', 'cost.desc.-1.1', 'cost.desc.1.'])(
  'the page %p is not one of Tally',
  (text) => {
    const page = Buffer.from(text).toString('base64url')
    expect(() => readListQuery({ sort: 'cost', page }, 'UTC')).toThrow(/next_page of an earlier response/)
  },
)
