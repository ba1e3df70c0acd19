import { expect, test } from 'bun:test'
import { ENTRY_FILTER_LIST, isListFilter } from '../../../../src/shared/entry-filters.ts'
import { readAddress } from '../../../../src/web/address.ts'
import {
  entryQuery,
  FILTERS,
  type Filters,
  pageOfList,
  queryOfList,
  withDays,
} from '../../../../src/web/parts/entries/filters.ts'

test.each(ENTRY_FILTER_LIST.map(([name]) => ({ name })))(
  'a link with the filter $name opens a page that asks the API for the same entries',
  ({ name }) => {
    const values = isListFilter(name) ? ['one', 'with, comma'] : ['one']
    const list = `/api/v1/token-entries?${new URLSearchParams(values.map((value) => [name, value]))}`
    const query = { [name]: isListFilter(name) ? values : 'one' } as ReturnType<typeof queryOfList>
    expect(entryQuery(readAddress(pageOfList(list, 'UTC').split('?')[1]!, FILTERS), 'UTC')).toEqual(query)
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

test('times of a link that start and end days of the zone are shown as days', () => {
  const november = { starting_at: '2026-10-31T23:00:00.000Z', ending_at: '2026-11-30T23:00:00.000Z' }
  const days = { starting_at: undefined, ending_at: undefined, period: '2026-11-01..2026-11-30' }
  expect(withDays<Partial<Filters>>(november, 'Europe/Berlin')).toEqual(days)
  const list = `/api/v1/token-entries?${new URLSearchParams({ ...november, priced: 'false' })}`
  expect(pageOfList(list, 'Europe/Berlin')).toBe('/entries?priced=false&period=2026-11-01..2026-11-30')
  expect(entryQuery({ ...readAddress('', FILTERS), ...days }, 'Europe/Berlin')).toEqual(november)
})

test('other times of a link stay times', () => {
  const november = { starting_at: '2026-10-31T23:00:00.000Z', ending_at: '2026-11-30T23:00:00.000Z' }
  expect(withDays(november, 'UTC')).toEqual(november)
  const open = { starting_at: '2026-11-01T00:00:00.000Z' }
  expect(withDays(open, 'UTC')).toEqual(open)
  const wrong = { starting_at: 'yesterday', ending_at: 'today' }
  expect(withDays(wrong, 'UTC')).toEqual(wrong)
})
