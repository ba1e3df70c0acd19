import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readAddress } from '../../../src/web/address.ts'
import { addDays } from '../../../src/web/format/moments.ts'
import { changeInWords } from '../../../src/web/pages/overview/change.ts'
import { barsOf, entriesOf, keyOf, labelOf, largest, restLabelOf } from '../../../src/web/pages/overview/groups.ts'
import type { Result, Usage } from '../../../src/web/pages/overview/usage.ts'
import { bucketInShort, bucketInWords, widthFor, widthsFor } from '../../../src/web/parts/charts/buckets.ts'
import { entryQuery, FILTERS, pageOfList } from '../../../src/web/parts/entries/filters.ts'

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

test('the stripes of a bar and its rest add up to the total', () => {
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
      expect(bar!.rest).toBe(rest / 1e6)
    }),
  )
})

test('a rounding error of fractions is not shown as a rest', () => {
  const values = ['a', 'b']
  const parts = usage([['2026-11-01', [result(0.1, 0, { model: 'a' }), result(0.2, 0, { model: 'b' })]]])
  const [bar] = barsOf(usage([['2026-11-01', [result(0.3, 0)]]]), parts, {
    values,
    dimension: 'model',
    measure: 'cost',
  })
  expect(bar).toMatchObject({ stripes: [0.1, 0.2], rest: 0 })
})

test('a bar without entries is empty, and a group without entries in it is 0', () => {
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

test('the largest groups are by the chosen measure, without the one that has no name', () => {
  const groups = [
    result(9, 1, { model: 'dear' }),
    result(1, 9, { model: 'long' }),
    result(99, 99, { model: null }),
    result(null, 5, { model: 'unpriced' }),
  ]
  expect(largest(groups, 'model', 'cost').map(({ model }) => model)).toEqual(['dear', 'long'])
  expect(largest(groups, 'model', 'tokens').map(({ model }) => model)).toEqual(['long', 'unpriced', 'dear'])
})

const ACME = result(3, 3, { project: { id: 'prj_1', key: 'ACME', name: 'Acme web' } })
const UNATTRIBUTED = result(1, 1, { project: null })

test('a group is filtered by its id, named by its name and linked by its key', () => {
  expect([keyOf(ACME, 'project'), labelOf(ACME, 'project')]).toEqual(['prj_1', 'Acme web'])
  expect(entriesOf(ACME, 'project', '30d')).toBe('/entries?project=ACME&period=30d')
  expect([keyOf(UNATTRIBUTED, 'project'), labelOf(UNATTRIBUTED, 'project')]).toEqual([null, 'No project'])
  expect(entriesOf(UNATTRIBUTED, 'project', '30d')).toBe('/entries?project=none&period=30d')
})

test('the rest is “No project” only if there are no further projects in it', () => {
  expect(restLabelOf([ACME, UNATTRIBUTED], [ACME], 'project')).toBe('No project')
  expect(restLabelOf([ACME, ACME, UNATTRIBUTED], [ACME], 'project')).toBe('Others')
  expect(restLabelOf([ACME, ACME], [ACME], 'project')).toBe('Others')
  expect(restLabelOf([result(1, 1, { model: null })], [], 'model')).toBe('Others')
})

test('a change is a percentage, from ten times on a multiple, and nothing if it would read as 0.0%', () => {
  const shown = (now: number | null, before: number | null) => Object.values(changeInWords(now, before)).join(' ')
  expect(shown(112.5, 100)).toBe('+12.5% vs. previous period')
  expect(shown(50, 100)).toBe('-50% vs. previous period')
  expect(shown(1_240, 100)).toBe('12× the previous period')
  expect(shown(100.04, 100)).toBe('no change')
})

test('a change from or to an unknown cost or nothing has no percentage', () => {
  const shown = (now: number | null, before: number | null) => changeInWords(now, before).comparison
  expect([shown(null, 5), shown(5, null), shown(5, 0), shown(0, 0)]).toEqual([
    'unknown',
    'none in the previous period',
    'none in the previous period',
    'no change',
  ])
})

test('a chart has at most 62 bars, whatever the period up to sixty years', () => {
  const days = { '1h': 1 / 24, '1d': 1, '1w': 7, '1mo': 28, '1q': 90, '1y': 365 }
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 22_000 }), (length) => {
      const period = { from: '2026-01-01', to: addDays('2026-01-01', length) }
      expect((length + 1) / days[widthFor(period)]).toBeLessThanOrEqual(62)
    }),
  )
})

test('another width is used if it makes two to 370 bars', () => {
  const year = { from: '2026-01-01', to: '2026-12-31' }
  expect(widthsFor(year).map(({ value }) => value)).toEqual(['1d', '1w', '1mo', '1q'])
  expect(['1q', '1d', '1h', '1y', 'x', undefined].map((width) => widthFor(year, width))).toEqual([
    ...(['1q', '1d', '1mo', '1mo', '1mo', '1mo'] as const),
  ])
})

test('a bar is labeled with its hour, day, week, month, quarter or year in the organization’s zone', () => {
  const at = '2026-10-31T23:00:00Z'
  const widths = ['1h', '1d', '1w', '1mo', '1q', '1y'] as const
  const berlin = { time_zone: 'Europe/Berlin', week_start: 'monday' } as const
  expect(widths.map((width) => bucketInShort(at, width, berlin))).toEqual([
    '00:00',
    '1 Nov',
    '1 Nov',
    'Nov 2026',
    'Q4 2026',
    '2026',
  ])
  expect(widths.map((width) => bucketInWords(at, width, berlin))).toEqual([
    '00:00',
    '1 Nov 2026',
    'Week 44, from 1 Nov 2026',
    'Nov 2026',
    'Q4 2026',
    '2026',
  ])
  expect(bucketInWords(at, '1w', { ...berlin, week_start: 'sunday' })).toBe('Week of 1 Nov 2026')
})

const NO_FILTERS = readAddress('', FILTERS)

test('a named period is sent as days of the organization, and times of a link are kept', () => {
  expect(entryQuery({ ...NO_FILTERS, period: '2026-11-01..2026-11-30' }, 'Europe/Berlin')).toEqual({
    starting_at: '2026-10-31T23:00:00.000Z',
    ending_at: '2026-11-30T23:00:00.000Z',
  })
  const linked = { ...NO_FILTERS, starting_at: '2026-11-03T00:00:00Z', model: ['gpt-5'], q: '' }
  expect(entryQuery(linked, 'UTC')).toEqual({ starting_at: '2026-11-03T00:00:00Z', model: ['gpt-5'] })
})

test('a link to a list of the API opens a page with the same filters', () => {
  expect(pageOfList('/api/v1/token-entries?label=repository%3Aacme%2Fweb&placed=none', 'UTC')).toBe(
    '/entries?label=repository%3Aacme%2Fweb&placed=none',
  )
})
