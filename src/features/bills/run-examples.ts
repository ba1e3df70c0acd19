/** Billing runs in the API documentation. */
import type { BillRun } from './run-schema.ts'
import type { UsualTerms } from './schema.ts'

const NOTHING = { entries: 0, unpriced_entries: 0, cost: 0, at_least: false }
const LAST_BILL = {
  id: 'bil_01a1fa172a0277f3983322718874f2e5',
  number: '2026-0001',
  issued_on: '2026-10-31',
  period: { from: '2026-10-01', to: '2026-10-31' },
  total: 9.34,
  currency: 'EUR',
  basis: 'cost' as const,
}
const RATE = { rate: 0.92, on: '2026-10-31' }

export const EXAMPLE_TERMS: UsualTerms = {
  currency: 'EUR',
  tax: { name: 'VAT', percent: 19 },
  exchange_rate: RATE,
  group_by: ['project', 'ticket'],
  due_days: 30,
  show_cost: false,
  show_active_time: false,
  basis: 'cost',
  last_bill: LAST_BILL,
}

export const EXAMPLE_RUN: BillRun = {
  month: '2026-11',
  period: { from: '2026-11-01', to: '2026-11-30' },
  period_is_over: true,
  approval_required: false,
  checks: [
    {
      check: 'unattributed',
      ...NOTHING,
      entries: 3,
      cost: 0.87,
      list: '/api/v1/token-entries?starting_at=2026-11-01T00%3A00%3A00.000Z&ending_at=2026-12-01T00%3A00%3A00.000Z&status=submitted&status=approved&placed=none&superseded=false',
    },
  ],
  data: [
    {
      client: { id: 'cli_01a1fa172a0277f3983322718874f2e1', name: 'Acme Ltd', email: 'bills@acme.example' },
      project: null,
      state: 'ready',
      blocked_by: [],
      request: {
        client: 'cli_01a1fa172a0277f3983322718874f2e1',
        month: '2026-11',
        tax: { name: 'VAT', percent: 19 },
        exchange_rate: 0.92,
        group_by: ['project', 'ticket'],
        due_days: 30,
        currency: 'EUR',
      },
      digest: 'pVkJm0o4k5p4bJf5sYlqk3a7dK0c9m2nT8xW1zQeR6U',
      idempotency_key: 'run-0Zq3o4k5p4bJf5sYlqk3a7dK0c9m2nT8xW1zQeR6U4s',
      entries: 41,
      cost: 11.64,
      currency: 'EUR',
      basis: 'cost',
      provisional: false,
      subtotal: 10.71,
      tax: 2.03,
      total: 12.74,
      left_out: {
        rejected: NOTHING,
        held: NOTHING,
        unpriced: NOTHING,
        not_approved: NOTHING,
        on_sheets: NOTHING,
        not_billable: NOTHING,
        earlier: NOTHING,
      },
      exchange_rate: RATE,
      bills: [],
      last_bill: LAST_BILL,
    },
  ],
}
