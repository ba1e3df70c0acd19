import { expect, test } from 'bun:test'
import { ENTRY_FILTER_LIST, isListFilter } from '../../../../src/entry-filters.ts'
import { readAddress } from '../../../../src/web/address.ts'
import { entryQuery, FILTERS, pageOfList, queryOfList } from '../../../../src/web/parts/entries/filters.ts'

test.each(ENTRY_FILTER_LIST.map(([name]) => ({ name })))(
  'a link with the filter $name opens a page that asks the API for the same entries',
  ({ name }) => {
    const values = isListFilter(name) ? ['one', 'with, comma'] : ['one']
    const list = `/api/v1/token-entries?${new URLSearchParams(values.map((value) => [name, value]))}`
    const query = { [name]: isListFilter(name) ? values : 'one' } as ReturnType<typeof queryOfList>
    expect(entryQuery(readAddress(pageOfList(list).split('?')[1]!, FILTERS), 'UTC')).toEqual(query)
    expect(queryOfList(list)).toEqual(query)
  },
)

test('the filters of a list of the API are those of its path: lists stay lists, and single values single', () => {
  const list =
    '/api/v1/token-entries?placed=none&label=repository%3Aacme%2Fweb&label=branch%3Amain&starting_at=2026-11-01'
  expect(queryOfList(list)).toEqual({
    placed: ['none'],
    label: ['repository:acme/web', 'branch:main'],
    starting_at: '2026-11-01',
  })
})
