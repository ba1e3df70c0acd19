import '../../support/page-location.ts'
import { expect, test } from 'bun:test'
import { seriesOf } from '../../../src/web/pages/insights/plans.tsx'
import type {
  CacheReport,
  LimitsReport,
  Outliers,
  PlanValue,
  PriceChanges,
  SeatsReport,
  Surcharges,
  WhatIfReport,
} from '../../../src/web/pages/insights/queries.ts'
import { widthFor } from '../../../src/web/pages/insights/queries.ts'
import {
  changesInWords,
  limitsInWords,
  outliersInWords,
  savingsInWords,
  seatsInWords,
  surchargesInWords,
  whatIfInWords,
  windowInWords,
} from '../../../src/web/pages/insights/words.ts'

const cache = (figures: object) =>
  ({
    saved: 0,
    uncached_value: 0,
    cached_value: 0,
    hit_rate: null,
    unvalued_entries: 0,
    ...figures,
  }) as CacheReport['totals']

test('savings are an amount and a share, and say what they leave out', () => {
  expect(savingsInWords(cache({ saved: 412.1, uncached_value: 1_000, hit_rate: 0.9, unvalued_entries: 1 }))).toBe(
    'Caching saved $412.10: the cached tokens cost 41.2% less than without caching. 90.0% of all input was read from a cache. Excludes 1 unpriced entry.',
  )
  expect(savingsInWords(cache({ saved: -2, uncached_value: 8 }))).toStartWith(
    'Caching cost $2.00 more: the cached tokens cost 25.0% more',
  )
  expect(savingsInWords(cache({ saved: 0, uncached_value: 0, hit_rate: 0 }))).toStartWith('No tokens were cached.')
})

test('unknown savings are not $0', () => {
  const found = savingsInWords(cache({ saved: null, uncached_value: null, unvalued_entries: 3 }))
  expect(found).toBe('What caching saved is unknown: 3 entries have no price.')
})

const whatIf = (totals: object) =>
  whatIfInWords({ as_model: 'gpt-9', totals: { entries: 5, unvalued_entries: 0, ...totals } } as WhatIfReport)

test('another model is cheaper, dearer, the same, or has no price', () => {
  expect(whatIf({ value: 10, other_value: 4, difference: -6, ratio: 0.4 })).toBe(
    'The same tokens would have cost $4.00 at the prices of gpt-9 instead of $10.00, 60.0% less.',
  )
  expect(whatIf({ value: 10, other_value: 15, difference: 5, ratio: 1.5 })).toContain('50.0% more')
  expect(whatIf({ value: 10, other_value: 10, difference: 0, ratio: 1 })).toEndWith('instead of $10.00.')
  expect(whatIf({ value: null, other_value: null, difference: null, ratio: null })).toStartWith(
    'No entry can be compared',
  )
})

test('surcharges are the part of the list value above base prices, or unknown', () => {
  const surcharges = (totals: object) =>
    surchargesInWords({ unvalued_entries: 0, share: null, ...totals } as Surcharges['totals'])
  expect(surcharges({ entries: 2, list_value: 10, surcharge: 4, share: 0.4 })).toBe(
    '2 entries are valued at prices of long requests, $10.00 in all. Of this, $4.00 (40.0%) is more than at base prices.',
  )
  expect(surcharges({ entries: 1, list_value: 10, surcharge: null, unvalued_entries: 1 })).toContain('unknown')
  expect(surcharges({ entries: 0, list_value: 0, surcharge: 0 })).toStartWith('No entry')
})

test('the largest effect of a change of prices, and the furthest session, are named', () => {
  const changes = {
    data: [
      { model: 'gpt-9', effect: -3 },
      { model: 'gpt-8', effect: 1 },
    ],
  } as PriceChanges
  expect(changesInWords(changes)).toContain('gpt-9 cost $3.00 less since the change')
  expect(changesInWords({ data: [] } as unknown as PriceChanges)).toStartWith('No price of a model in use changed')
  const outliers = { data: [{ cost: 60, times: 5.5, agent_manager: { name: 'Ada' } }] } as Outliers
  expect(outliersInWords(outliers)).toBe(
    '1 session cost far more than usual. The furthest cost $60.00, 5.5 times what is usual for Ada.',
  )
})

test.each([
  ['2026-11-01', '2026-11-08', '1d'],
  ['2026-11-01', '2026-12-01', '1w'],
  ['2026-01-01', '2027-01-01', '1mo'],
])('from %s to %s is divided by %s', (starting_at, ending_at, width) => {
  expect(widthFor({ starting_at, ending_at })).toBe(width as never)
})

test('limits say how many would be reached, whose is the first, and how many are not listed', () => {
  const use = (id: string, name: string, reaches_limit?: boolean) => ({
    user: { id, name },
    projection: reaches_limit === undefined ? null : { reaches_limit },
  })
  const limits = (data: object[], left_out = 0) =>
    limitsInWords({ data, limits: data.length + left_out, left_out } as LimitsReport)
  expect(limits([])).toBe('No agent has reported a limit in this period.')
  expect(limits([use('1', 'Ada', true), use('1', 'Ada', false), use('2', 'Bob')])).toBe(
    '3 limits of 2 people. 1 would be reached before it resets if use goes on as it has, first one of Ada.',
  )
  expect(limits([use('1', 'Ada', false)], 4)).toBe(
    '5 limits of 1 person and others. None would be reached before it resets if use goes on as it has. The 1 most urgent are listed; filter by person to see others.',
  )
  expect([300, 10_080, 90].map(windowInWords)).toEqual(['5 hours', '7 days', '90 minutes'])
})

test('seats are compared where periods have ended, with what nobody used and what is not closed', () => {
  const seat = (name: string, ratio: number | null) => ({ name, ratio, unpriced_entries: 0 })
  const sums = (periods: number, fee_usd: number, list_value: number, unused: number | null) => {
    const ratio = fee_usd === 0 ? null : list_value / fee_usd
    return { periods, fee_usd, list_value, charge: 0, unused, ratio }
  }
  const data = [
    { plan: { name: 'Max' }, state: 'closed', late_entries: 1, people: [seat('Ada', 2), seat('Eve', null)] },
    { plan: { name: 'Pro' }, state: 'ended', late_entries: 0, people: [seat('Ben', 0.1)] },
    { plan: { name: 'Max' }, state: 'running', late_entries: 0, people: [seat('Ada', 9)] },
  ]
  const report = { data, ended: sums(2, 200, 120, 19), running: sums(1, 100, 900, 0) }
  expect(seatsInWords(report as unknown as SeatsReport)).toBe(
    'The fees of 2 ended periods of plans are $200.00; what they paid for is $120.00 at list prices, 0.60 × the fees. Best seat: Ada with Max (2.00 ×); worst: Ben with Pro (0.10 ×). Of the fees, $19.00 are for seats that nobody used. 1 period has ended and is not closed yet. Excludes 1 late entry that waits for a correction.',
  )
  const running = { data: [data[2]], ended: sums(0, 0, 0, null), running: sums(1, 100, 900, null) }
  expect(seatsInWords(running as unknown as SeatsReport)).toBe(
    'The fees of 1 running period of plans are $100.00; what they paid for is $900.00 at list prices, 9.00 × the fees.',
  )
  const none = { data: [], ended: sums(0, 0, 0, 0), running: sums(0, 0, 0, 0) }
  expect(seatsInWords(none as unknown as SeatsReport)).toBe('No plan has a period in this date range.')
})

test('the chart has a line for each plan, and one where value and fee are the same', () => {
  const period = (name: string, from: string, fee_usd: number, list_value: number, charge = 0) =>
    ({ plan: { id: name, name }, from, fee_usd, list_value, charge }) as PlanValue
  const series = seriesOf([
    period('Max', '2026-10-17', 100, 260, 10),
    period('Max', '2026-12-17', 100, 50),
    period('Pro', '2026-10-01', 400, 100),
    period('Free', '2026-11-01', 0, 100),
  ])
  expect(series.map(({ label, values, isEarlier = false }) => [label, values, isEarlier])).toEqual([
    ['Pro', [0.25, null, null], false],
    ['Max', [2.5, null, 0.5], false],
    ['Free', [null, null, null], false],
    ['Break-even', [1, 1, 1], true],
  ])
})
