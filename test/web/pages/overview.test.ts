import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { barsOf, largest } from '../../../src/web/pages/overview/groups.ts'
import type { Result, Usage } from '../../../src/web/pages/overview/usage.ts'
import { entryQuery, type Filters, LISTS, pageOfList } from '../../../src/web/parts/entries/filters.ts'

const NO_TOKENS = { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0 }

const result = (cost: number | null, total: number, key: object = {}): Result => ({
  entries: 1,
  unpriced_entries: cost === null ? 1 : 0,
  straddling_entries: 0,
  tokens: { ...NO_TOKENS, total },
  cost,
  list_value: cost,
  reported_cost: null,
  ...key,
})

const usage = (buckets: [starting_at: string, results: Result[]][]): Usage =>
  ({ data: buckets.map(([starting_at, results]) => ({ starting_at, results })) }) as Usage

test('the stripes of a bar and its rest are the whole', () => {
  const cents = fc.array(fc.integer({ min: 0, max: 10 ** 9 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(cents, fc.integer({ min: 0, max: 10 ** 9 }), (stripes, rest) => {
      const names = stripes.map((_, index) => `model ${index}`)
      const total = [...stripes, rest].reduce((sum, each) => sum + each, 0) / 1e6
      const [bar] = barsOf(
        usage([['2026-11-01', [result(total, 0)]]]),
        usage([['2026-11-01', stripes.map((cost, index) => result(cost / 1e6, 0, { model: names[index] }))]]),
        { values: names, dimension: 'model', measure: 'cost' },
      )
      expect(bar!.rest).toBeGreaterThanOrEqual(0)
      expect(bar!.stripes.reduce((sum, each) => sum + each, bar!.rest)).toBeCloseTo(total, 6)
    }),
  )
})

test('what fractions lose in the browser is no stripe of its own', () => {
  const values = ['a', 'b']
  const parts = usage([['2026-11-01', [result(0.1, 0, { model: 'a' }), result(0.2, 0, { model: 'b' })]]])
  const [bar] = barsOf(usage([['2026-11-01', [result(0.3, 0)]]]), parts, {
    values,
    dimension: 'model',
    measure: 'cost',
  })
  expect(bar).toMatchObject({ stripes: [0.1, 0.2], rest: 0 })
})

test('a bar without entries is empty, and a group that has none there is nothing in it', () => {
  const course = usage([
    ['2026-11-01', []],
    ['2026-11-02', [result(null, 7)]],
  ])
  const options = { values: ['a'], dimension: 'model', measure: 'tokens' } as const
  expect(barsOf(course, undefined, options)).toEqual([
    { starting_at: '2026-11-01', stripes: [0], rest: 0, total: 0 },
    { starting_at: '2026-11-02', stripes: [0], rest: 7, total: 7 },
  ])
})

test('the largest groups are those by the measure that is shown, and never the one without a name', () => {
  const groups = [
    result(9, 1, { model: 'dear' }),
    result(1, 9, { model: 'long' }),
    result(99, 99, { model: null }),
    result(null, 5, { model: 'unpriced' }),
  ]
  expect(largest(groups, 'model', 'cost').map(({ model }) => model)).toEqual(['dear', 'long'])
  expect(largest(groups, 'model', 'tokens').map(({ model }) => model)).toEqual(['long', 'unpriced', 'dear'])
})

const NO_FILTERS = Object.fromEntries(LISTS.map((name) => [name, []])) as unknown as Filters

test('a period by name is asked for in the organization’s days, and moments of a link are kept', () => {
  expect(entryQuery({ ...NO_FILTERS, period: '2026-11-01..2026-11-30' }, 'Europe/Berlin')).toEqual({
    starting_at: '2026-10-31T23:00:00.000Z',
    ending_at: '2026-11-30T23:00:00.000Z',
  })
  const linked = { ...NO_FILTERS, starting_at: '2026-11-03T00:00:00Z', model: ['gpt-5'], q: '' }
  expect(entryQuery(linked, 'UTC')).toEqual({ starting_at: '2026-11-03T00:00:00Z', model: ['gpt-5'] })
})

test('the list that a report names is a page with the same filters', () => {
  expect(pageOfList('/api/v1/token-entries?label=repository%3Aacme%2Fweb&placed=none')).toBe(
    '/entries?label=repository%3Aacme%2Fweb&placed=none',
  )
})
