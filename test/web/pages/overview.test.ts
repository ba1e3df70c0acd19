import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readAddress } from '../../../src/web/address.ts'
import { addDays } from '../../../src/web/format/moments.ts'
import { chartLinks } from '../../../src/web/pages/overview/chart-links.ts'
import { barsOf, entriesOf, largest, restLabelOf } from '../../../src/web/pages/overview/groups.ts'
import { heatmapOf, movedTo } from '../../../src/web/pages/overview/heatmap-layout.ts'
import { moversOf } from '../../../src/web/pages/overview/movers.ts'
import { scopeBefore, scopeOf } from '../../../src/web/pages/overview/scope.ts'
import { bucketInShort, bucketInWords, widthFor, widthsFor } from '../../../src/web/parts/charts/buckets.ts'
import { entryQuery, FILTERS, pageOfList } from '../../../src/web/parts/entries/filters.ts'
import { changeInWords } from '../../../src/web/parts/usage/change-words.ts'
import { keyOf, labelOf } from '../../../src/web/parts/usage/dimensions.ts'
import type { Result, Usage } from '../../../src/web/parts/usage/usage.ts'
import type { Me } from '../../../src/web/server/me.ts'

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

test('the segments of a bar and its rest add up to the total', () => {
  const cents = fc.array(fc.integer({ min: 0, max: 10 ** 9 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(cents, fc.integer({ min: 0, max: 10 ** 9 }), (segments, rest) => {
      const names = segments.map((_, index) => `model ${index}`)
      const total = [...segments, rest].reduce((sum, each) => sum + each, 0) / 1e6
      const [bar] = barsOf(
        usage([['2026-11-01', [result(total, 0)]]]),
        usage([['2026-11-01', segments.map((cost, index) => result(cost / 1e6, 0, { model: names[index] }))]]),
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
  expect(bar).toMatchObject({ segments: [0.1, 0.2], rest: 0 })
})

test('a bar without entries is empty, and a group without entries in it is 0', () => {
  const trend = usage([
    ['2026-11-01', []],
    ['2026-11-02', [result(null, 7)]],
  ])
  const options = { values: ['a'], dimension: 'model', measure: 'tokens' } as const
  expect(barsOf(trend, null, options)).toEqual([
    { starting_at: '2026-11-01', segments: [0], rest: 0, total: 0 },
    { starting_at: '2026-11-02', segments: [0], rest: 7, total: 7 },
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

const ME = {
  person: { role: 'billing' },
  leads: false,
  settings: { time_zone: 'UTC', cost_basis: 'cost' },
} as unknown as Me

const NOVEMBER = scopeOf({ period: '2026-11-01..2026-11-30', client: [], project: [], basis: undefined }, ME)
const ACME = result(3, 3, { project: { id: 'prj_1', key: 'ACME', name: 'Acme web' } })
const UNATTRIBUTED = result(1, 1, { project: null })

test('a group is filtered by its id, named by its name and linked by its key', () => {
  expect([keyOf(ACME, 'project'), labelOf(ACME, 'project')]).toEqual(['prj_1', 'Acme web'])
  expect(entriesOf(ACME, 'project', NOVEMBER)).toBe('/entries?project=ACME&period=2026-11-01..2026-11-30')
  expect([keyOf(UNATTRIBUTED, 'project'), labelOf(UNATTRIBUTED, 'project')]).toEqual([null, 'No project'])
  expect(entriesOf(UNATTRIBUTED, 'project', NOVEMBER)).toBe('/entries?project=none&period=2026-11-01..2026-11-30')
})

test('the rest is “No project” only if there are no further projects in it', () => {
  expect(restLabelOf([ACME, UNATTRIBUTED], [ACME], 'project')).toBe('No project')
  expect(restLabelOf([ACME, ACME, UNATTRIBUTED], [ACME], 'project')).toBe('Others')
  expect(restLabelOf([ACME, ACME], [ACME], 'project')).toBe('Others')
  expect(restLabelOf([result(1, 1, { model: null })], [], 'model')).toBe('Others')
})

test('a change is a percentage, from ten times on a multiple, and nothing if it would read as 0.0%', () => {
  const shown = (now: number, before: number) => {
    const { change, comparison } = changeInWords(now, before)
    return change ? `${change} ${comparison}` : comparison
  }
  expect(shown(112.5, 100)).toBe('+12.5% vs. previous period')
  expect(shown(50, 100)).toBe('-50.0% vs. previous period')
  expect(shown(1_240, 100)).toBe('12× the previous period')
  expect(shown(100.04, 100)).toBe('no change')
})

test('an increase of a tenth or more is notable, a smaller one and any decrease are not', () => {
  const notable = [110, 1_240, 109, 90, 1].map((now) => changeInWords(now, 100).isNotable)
  expect(notable).toEqual([true, true, false, false, false])
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

test('the clients and projects of the page are part of every link, and a group replaces its own', () => {
  const scope = scopeOf({ period: '2026-11-01..2026-11-30', client: ['Acme'], project: ['WEB'], basis: undefined }, ME)
  expect(entriesOf(result(1, 1, { model: 'gpt-5' }), 'model', scopeBefore(scope))).toBe(
    '/entries?client=Acme&project=WEB&period=2026-10-01..2026-10-31&model=gpt-5',
  )
  expect(entriesOf(ACME, 'project', scope)).toBe('/entries?client=Acme&project=ACME&period=2026-11-01..2026-11-30')
})

test('a bar leads to its entries, the legend to the project, and the rest to the report', () => {
  const bucket = { starting_at: '2026-11-02T00:00:00Z', ending_at: '2026-11-03T00:00:00Z', results: [] }
  const linksOf = (groups: Result[]) =>
    chartLinks({
      ...{ scope: NOVEMBER, dimension: 'project', measure: 'cost', trend: { data: [bucket] } as unknown as Usage },
      ...{ groups, segments: [ACME] },
    })
  const point = { key: bucket.starting_at, short: '', title: '' }
  const series = (key: string) => ({ key, label: '', values: [], color: '', pattern: 'solid' }) as const
  const day = 'starting_at=2026-11-02T00%3A00%3A00Z&ending_at=2026-11-03T00%3A00%3A00Z'
  const many = linksOf([ACME, ACME, UNATTRIBUTED])
  expect(many(point, series('prj_1'))).toBe(`/entries?project=ACME&${day}`)
  expect(many(point, undefined)).toBe(`/entries?${day}`)
  expect(many(point, series(' rest'))).toBeUndefined()
  expect(many(undefined, series('prj_1'))).toBe('/work/projects/prj_1')
  expect(many(undefined, series(' rest'))).toBe('/reports?period=2026-11-01..2026-11-30&by=project&measure=cost')
  expect(linksOf([ACME, UNATTRIBUTED])(point, series(' rest'))).toBe(`/entries?project=none&${day}`)
})

test('the movers are the largest changes in each direction, also of what is new or gone, with their share', () => {
  const of = (model: string, cost: number | null) => result(cost, 1, { model })
  const { up, down, unknown } = moversOf(
    [of('new', 3), of('more', 11), of('less', 4), of('same', 7), of('unpriced', null)],
    [of('more', 10), of('less', 5), of('same', 7), of('gone', 9), of('unpriced', 2)],
    { dimension: 'model', measure: 'cost' },
  )
  const shown = (movers: typeof up) => movers.map(({ group, change, share }) => [group.model, change, share])
  expect(shown(up)).toEqual([
    ['new', 3, 0.75],
    ['more', 1, 0.25],
  ])
  expect(shown(down)).toEqual([
    ['gone', -9, 0.9],
    ['less', -1, 0.1],
  ])
  expect(unknown).toBe(1)
})

test('a year of days is laid out in weeks, colored by quartiles', () => {
  // 1 January 2026 is a Thursday.
  const days = Array.from({ length: 40 }, (_, at) => ({
    day: addDays('2026-01-01', at),
    value: at < 4 ? null : at < 8 ? 0 : at,
  }))
  const { cells, columns, months } = heatmapOf(days, 1)
  expect([cells[0], cells[4]]).toMatchObject([
    { column: 0, row: 3, level: 0 },
    { column: 1, row: 0, level: 0 },
  ])
  expect(heatmapOf(days, 0).cells[0]).toMatchObject({ column: 0, row: 4 })
  expect(columns).toBe(7)
  expect(months).toEqual([
    { column: 0, label: 'Jan' },
    { column: 4, label: 'Feb' },
  ])
  expect(Object.values(Object.groupBy(cells, ({ level }) => level)).map((level) => level!.length)).toEqual([
    8, 8, 8, 8, 8,
  ])
  expect(heatmapOf([], 1)).toEqual({ cells: [], columns: 0, months: [] })
})

test('arrow keys move between days and weeks of the calendar, and stop at its ends', () => {
  const keys = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'Tab']
  expect(keys.map((key) => movedTo(key, 10, 15))).toEqual([3, 14, 9, 11, 0, 14, undefined])
  expect(movedTo('ArrowLeft', 3, 15)).toBe(0)
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
