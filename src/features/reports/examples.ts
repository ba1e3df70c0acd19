/** Reports of a small November, for the OpenAPI document. */
import type {
  CacheReport,
  CompletenessReport,
  PriceEffectsReport,
  SurchargesReport,
  UnpricedReport,
  UsageReport,
  VarianceReport,
  WhatIfReport,
  WholeProgress,
} from './schema.ts'

const NOVEMBER = {
  starting_at: '2026-10-31T23:00:00.000Z',
  ending_at: '2026-11-30T23:00:00.000Z',
  time_zone: 'Europe/Berlin',
  currency: 'USD',
} as const

const FIGURES = {
  entries: 14,
  unpriced_entries: 1,
  straddling_entries: 0,
  tokens: { input: 7308, output: 3192, cache_read: 293748, cache_write: 42924, cache_write_1h: 8400, total: 355572 },
  cost: 0.3692934,
  list_value: 0.3429153,
  reported_cost: 0.0263781,
}

const ONE_DAY = { starting_at: '2026-10-31T23:00:00.000Z', ending_at: '2026-11-01T23:00:00.000Z' }

export const EXAMPLE_USAGE: UsageReport = {
  ...NOVEMBER,
  bucket_width: '1d',
  week_start: 'monday',
  group_by: ['project', 'model'],
  basis: 'cost',
  totals: { ...FIGURES, rejected_entries: 0, rejected_cost: null },
  data: [
    {
      ...ONE_DAY,
      period: ONE_DAY,
      results: [
        {
          project: { id: 'prj_01a1fa172a0277f3983322718874f2e2', key: 'ACME', name: 'Acme web' },
          model: 'claude-sonnet-4-5',
          ...FIGURES,
        },
      ],
    },
  ],
  has_more: false,
  next_page: null,
}

export const EXAMPLE_UNPRICED: UnpricedReport = {
  data: [
    {
      model: 'house-model',
      provider: null,
      entries: 1,
      tokens: { input: 522, output: 228, cache_read: 20982, cache_write: 3066, cache_write_1h: 600, total: 25398 },
      first_at: '2026-11-01T17:53:04.000Z',
      last_at: '2026-11-01T17:53:04.000Z',
      explanation: '/api/v1/prices/resolve?model=house-model&at=2026-11-01T17%3A53%3A04.000Z',
      list: '/api/v1/token-entries?priced=false&superseded=false&model=house-model&provider=none&status=submitted&status=approved&status=rejected&status=billed',
    },
  ],
  has_more: false,
  next_page: null,
}

const DIFFERENCE = { reported_cost: 0.0263781, list_value: 0.0239801, difference: 0.002398, ratio: 1.1 }

export const EXAMPLE_VARIANCE: VarianceReport = {
  ...NOVEMBER,
  totals: { entries: 14, compared_entries: 1, ...DIFFERENCE },
  data: [{ model: 'claude-sonnet-4-5', agent_name: 'reviewer', entries: 1, ...DIFFERENCE }],
  has_more: false,
  next_page: null,
}

export const EXAMPLE_SUMS_PROGRESS: WholeProgress = {
  time_zone: 'Europe/Berlin',
  days: 730,
  days_made: 212,
  percent: 29,
  complete: false,
}

export const EXAMPLE_COMPLETENESS: CompletenessReport = {
  ...NOVEMBER,
  data: [
    {
      check: 'unplaced',
      entries: 2,
      unpriced_entries: 0,
      cost: 0.0527562,
      list: '/api/v1/token-entries?starting_at=2026-10-31T23%3A00%3A00.000Z&ending_at=2026-11-30T23%3A00%3A00.000Z&superseded=false&status=submitted&status=approved&status=billed&placed=none',
    },
  ],
}

const CACHE_FIGURES = {
  entries: 13,
  unvalued_entries: 0,
  tokens: { input: 6786, output: 2964, cache_read: 272766, cache_write: 39858, cache_write_1h: 7800, total: 330174 },
  hit_rate: 0.833552,
  uncached_value: 0.961272,
  cached_value: 0.2780973,
  saved: 0.6831747,
}

export const EXAMPLE_CACHE: CacheReport = {
  ...NOVEMBER,
  bucket_width: 'all',
  group_by: 'model',
  totals: CACHE_FIGURES,
  left_out: [],
  data: [
    {
      starting_at: NOVEMBER.starting_at,
      ending_at: NOVEMBER.ending_at,
      results: [
        {
          model: 'claude-sonnet-4-5',
          ...CACHE_FIGURES,
          list: '/api/v1/token-entries?starting_at=2026-10-31T23%3A00%3A00.000Z&ending_at=2026-11-30T23%3A00%3A00.000Z&model=claude-sonnet-4-5&status=submitted&status=approved&status=rejected&status=billed&superseded=false',
        },
      ],
    },
  ],
}

const WHAT_IF = {
  entries: 13,
  unvalued_entries: 0,
  tokens: CACHE_FIGURES.tokens,
  value: 0.3429153,
  other_value: 0.1143051,
  difference: -0.2286102,
  ratio: 0.333333,
}

const SONNET_LIST =
  '/api/v1/token-entries?starting_at=2026-10-31T23%3A00%3A00.000Z&ending_at=2026-11-30T23%3A00%3A00.000Z&model=claude-sonnet-4-5&provider=none&status=submitted&status=approved&status=rejected&status=billed&superseded=false'

export const EXAMPLE_WHAT_IF: WhatIfReport = {
  ...NOVEMBER,
  as_model: 'claude-haiku-4-5',
  as_provider: null,
  totals: WHAT_IF,
  left_out: [],
  data: [{ model: 'claude-sonnet-4-5', provider: null, ...WHAT_IF, list: SONNET_LIST }],
}

export const EXAMPLE_PRICE_CHANGES: PriceEffectsReport = {
  ...NOVEMBER,
  data: [
    {
      model: 'claude-sonnet-4-5',
      provider: null,
      changed_at: '2026-11-10T00:00:00.000Z',
      ending_at: NOVEMBER.ending_at,
      before: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6 },
      after: { input: 2, output: 10, cache_read: 0.2, cache_write: 2.5, cache_write_1h: 4 },
      entries: 9,
      unvalued_entries: 0,
      value_before: 0.3,
      value_after: 0.2,
      effect: -0.1,
      ratio: 0.666667,
      list: SONNET_LIST,
    },
  ],
}

const LONG_CONTEXT_LIST = SONNET_LIST.replace('&superseded=', '&long_context=true&superseded=')

const SURCHARGES = {
  list: LONG_CONTEXT_LIST,
  unvalued_list: LONG_CONTEXT_LIST.replace('&superseded=', '&without_base_price=true&superseded='),
  entries: 4,
  unvalued_entries: 0,
  cost: 12.4,
  list_value: 12.4,
  surcharge: 5.1,
  base_value: 7.3,
  share: 0.41129,
}

export const EXAMPLE_SURCHARGES: SurchargesReport = {
  ...NOVEMBER,
  totals: SURCHARGES,
  data: [{ model: 'claude-sonnet-4-5', provider: null, ...SURCHARGES }],
}
