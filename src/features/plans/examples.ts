/** Requests and responses of plans, for the OpenAPI document. */
import { COMMON_PLANS } from './common.ts'
import type {
  AllocatedPeriod,
  LoadedPlans,
  NewPlan,
  PeriodBody,
  PeriodDetail,
  PlanBody,
  PlanFile,
  PlanLedger,
  PlanValueReport,
} from './schema.ts'

export const EXAMPLE_NEW_PLAN: NewPlan = {
  like: 'claude-max',
  name: 'Claude Max, Ada',
  people: [{ person: 'ada@example.com' }],
  from: '2026-10-17',
}

export const EXAMPLE_COMMON_PLAN = COMMON_PLANS[0]!

const TERMS = {
  from: '2026-10-17',
  prorate: null,
  period: 'month',
  fee: 100,
  currency: 'USD',
  exchange_rate: null,
  seats: 1,
  covers: [{ field: 'agent_harness', matches: 'claude-code' }],
  allowance: null,
  allowance_unit: null,
  overage_price: null,
  pooled: false,
  weight: 'list_value',
  source_url: EXAMPLE_COMMON_PLAN.source_url,
  source_day: EXAMPLE_COMMON_PLAN.source_day,
} as const

const EXAMPLE_PERIOD: PeriodBody = {
  from: '2026-11-17',
  to: '2026-12-16',
  whole_to: '2026-12-16',
  seats: 1,
  fee: 100,
  currency: 'USD',
  fee_usd: 100,
}

export const EXAMPLE_ALLOCATED_PERIOD: AllocatedPeriod = {
  ...EXAMPLE_PERIOD,
  from: '2026-10-17',
  to: '2026-11-16',
  whole_to: '2026-11-16',
  allocated: 100,
  unused: 0,
  pending: 0,
  state: 'closed',
  provisional: false,
  calculated_at: '2026-11-17T08:30:12.000Z',
  closed_at: '2026-11-17T08:30:12.000Z',
  unused_seats: 0,
  entries_cost: 100,
  charge: 0,
  corrections: 0,
  entries_url:
    '/api/v1/token-entries?starting_at=2026-10-17T00%3A00%3A00.000Z&ending_at=2026-11-17T00%3A00%3A00.000Z&plan=pln_01a1fa172a0277f3983322718874f2ea&correction=false&basis=allocated',
  entries: 212,
  unpriced_entries: 0,
  late_entries: 0,
}

const EXAMPLE_PLAN_NAME = { id: 'pln_01a1fa172a0277f3983322718874f2ea', name: 'Claude Max, Ada' }

export const EXAMPLE_PERIOD_DETAIL: PeriodDetail = {
  ...EXAMPLE_ALLOCATED_PERIOD,
  people: [
    {
      id: 'usr_01a1fa172a0277f3983322718874f2e0',
      name: 'Ada',
      entries: 212,
      list_value: 431.25,
      share: 100,
      charge: 0,
      corrections: 0,
    },
  ],
}

export const EXAMPLE_LEDGER: PlanLedger = {
  data: [{ plan: EXAMPLE_PLAN_NAME, ...EXAMPLE_ALLOCATED_PERIOD }],
  fee_usd: 100,
  allocated: 100,
  unused: 0,
  pending: 0,
}

const EXAMPLE_VALUE_SUMS = {
  fee_usd: 100,
  allocated: 100,
  unused: 0,
  pending: 0,
  list_value: 431.25,
  charge: 0,
  ratio: 4.3125,
}

export const EXAMPLE_VALUE: PlanValueReport = {
  time_zone: 'Europe/Berlin',
  from: '2026-10-30',
  to: '2026-11-29',
  data: [
    {
      plan: EXAMPLE_PLAN_NAME,
      from: '2026-10-17',
      to: '2026-11-16',
      state: 'closed',
      seats: 1,
      unused_seats: 0,
      ...EXAMPLE_VALUE_SUMS,
      allowance: null,
      allowance_unit: null,
      late_entries: 0,
      people: [
        {
          id: 'usr_01a1fa172a0277f3983322718874f2e0',
          name: 'Ada',
          entries: 212,
          unpriced_entries: 0,
          fee: 100,
          list_value: 431.25,
          charge: 0,
          ratio: 4.3125,
          allowance_used: null,
        },
      ],
    },
  ],
  ended: { periods: 1, ...EXAMPLE_VALUE_SUMS },
  running: {
    periods: 0,
    ...{ fee_usd: 0, allocated: 0, unused: 0, pending: 0, list_value: 0, charge: 0, ratio: null },
  },
}

export const EXAMPLE_PLAN: PlanBody = {
  id: 'pln_01a1fa172a0277f3983322718874f2ea',
  name: 'Claude Max, Ada',
  vendor: 'Anthropic',
  product: 'Claude Max',
  holder: 'person',
  people: [{ id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada', from: '2026-10-17', to: null }],
  vendor_codes: [],
  note: null,
  starts_on: '2026-10-17',
  ends_on: null,
  end_prorate: null,
  state: 'active',
  current_period: EXAMPLE_PERIOD,
  versions: [{ ...TERMS, covers: [...TERMS.covers] }],
  created_at: '2026-10-17T09:12:44.000Z',
}

export const EXAMPLE_PLAN_FILE: PlanFile = {
  plans: [
    {
      name: 'Claude Max, Ada',
      vendor: 'Anthropic',
      product: 'Claude Max',
      holder: 'person',
      people: [{ person: 'ada@example.com', from: '2026-10-17', to: null }],
      versions: [{ from: '2026-10-17', period: 'month', fee: 100 }],
    },
  ],
}

export const EXAMPLE_LOADED_PLANS: LoadedPlans = {
  added: 1,
  changed: 0,
  unchanged: 0,
  plans: [{ name: 'Claude Max, Ada', result: 'added' }],
  dry_run: false,
  funding: null,
}
