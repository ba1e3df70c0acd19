/** Requests and responses about viewers, for the OpenAPI document. */
import type { GrantBody, NewGrant, Shared, SharedBill, SharedUsage } from './schema.ts'

export const EXAMPLE_NEW_GRANT: NewGrant = { client: 'Globex', money: 'amounts', bills: true }

export const EXAMPLE_GRANT: GrantBody = {
  client: { id: 'cli_01a1fa172a0277f3983322718874f2e5', name: 'Globex' },
  project: null,
  money: 'amounts',
  people: false,
  bills: true,
  created_at: '2026-11-20T17:53:04.000Z',
}

export const EXAMPLE_SHARED: Shared = {
  grants: [EXAMPLE_GRANT],
  shows_people: false,
  shows_bills: true,
  time_zone: 'Europe/Berlin',
  week_start: 'monday',
  locale: 'de-DE',
  currency: 'EUR',
  contact: { name: 'Acme', email: 'billing@acme.example' },
}

const FIGURES = {
  entries: 14,
  tokens: { input: 522, output: 228, cache_read: 20982, cache_write: 3066, cache_write_1h: 600, total: 25398 },
  cost: null,
  cost_entries: 0,
  amounts: [{ currency: 'EUR', amount: 1.32 }],
  amount_entries: 14,
}

const NOVEMBER = { starting_at: '2026-10-31T23:00:00.000Z', ending_at: '2026-11-30T23:00:00.000Z' }

export const EXAMPLE_SHARED_USAGE: SharedUsage = {
  ...NOVEMBER,
  time_zone: 'Europe/Berlin',
  currency: 'USD',
  bucket_width: '1mo',
  group_by: ['project'],
  totals: FIGURES,
  data: [
    {
      ...NOVEMBER,
      results: [
        { project: { id: 'prj_01a1fa172a0277f3983322718874f2e3', key: 'GLX', name: 'Globex shop' }, ...FIGURES },
      ],
    },
  ],
}

export const EXAMPLE_SHARED_BILL: SharedBill = {
  id: 'bil_01a1fa172a0277f3983322718874f2e6',
  number: '2026-0001',
  kind: 'bill',
  state: 'sent',
  client: { id: 'cli_01a1fa172a0277f3983322718874f2e5', name: 'Globex' },
  project: null,
  period: { from: '2026-11-01', to: '2026-11-30' },
  issued_on: '2026-12-01',
  due_on: '2026-12-31',
  currency: 'EUR',
  subtotal: 1.32,
  tax: 0.25,
  total: 1.57,
  amount_paid: 0,
  balance: 1.57,
  overdue: false,
}
