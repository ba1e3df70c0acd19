/** Requests and responses of bills, for the OpenAPI document. */
import type { Static } from '@sinclair/typebox'
import type { Bill, BillDocument, BillHead, BillPreview, BillSending, BillTotals } from './schema.ts'

export const EXAMPLE_REQUEST: BillSending = {
  month: '2026-11',
  client: 'Acme',
  currency: 'EUR',
  exchange_rate: 0.92,
  tax: { name: 'VAT', percent: 19 },
  purchase_order: 'PO-1187',
}

const CLIENT = { id: 'cli_01a1fa172a0277f3983322718874f2e2', name: 'Acme' }
const NOTHING = { entries: 0, unpriced_entries: 0, cost: 0, at_least: false }

const DOCUMENT: BillDocument = {
  kind: 'bill',
  number: '2026-0001',
  issued_on: '2026-12-01',
  due_on: '2026-12-31',
  time_zone: 'Europe/Berlin',
  issuer: {
    name: 'Agents & Co',
    address: '1 Road\n10115 Berlin',
    tax_id: 'DE123456789',
    email: 'bills@agents.example',
  },
  recipient: { name: 'Acme', address: '2 Street\n20095 Hamburg', tax_id: null, email: 'bills@acme.example' },
  scope: { client: CLIENT, project: null },
  period: { from: '2026-11-01', to: '2026-11-30' },
  purchase_order: 'PO-1187',
  note: null,
  footer: 'Please pay to DE00 0000 0000 0000 0000 00.',
  replaces: null,
  corrects: null,
  basis: 'cost',
  currency: 'EUR',
  minor_digits: 2,
  exchange_rate: 0.92,
  group_by: ['project', 'ticket'],
  show_cost: false,
  sections: [
    {
      title: null,
      lines: [
        {
          line: 1,
          keys: {
            project: { id: 'prj_01a1fa172a0277f3983322718874f2e3', key: 'ACME', name: 'Acme web' },
            ticket: { id: 'tkt_01a1fa172a0277f3983322718874f2e4', key: 'ACME-42', name: null },
          },
          entries: 14,
          sessions: 12,
          tokens: {
            input: 120_000,
            output: 45_000,
            cache_read: 2_400_000,
            cache_write: 80_000,
            cache_write_1h: 0,
            total: 2_645_000,
          },
          cost: 10.35,
          list_value: 10.35,
          markup: 12.5,
          amount: 10.71,
        },
      ],
    },
  ],
  extra_lines: [],
  entries: 14,
  cost: 10.35,
  list_value: 10.35,
  subtotal: 10.71,
  tax: { name: 'VAT', percent: 19, amount: 2.03 },
  total: 12.74,
  left_out: {
    rejected: NOTHING,
    held: NOTHING,
    unpriced: NOTHING,
    not_approved: NOTHING,
    on_sheets: NOTHING,
    not_billable: NOTHING,
    earlier: NOTHING,
    unattributed: { entries: 3, unpriced_entries: 0, cost: 0.87, at_least: false },
    without_client: NOTHING,
    without_project: NOTHING,
  },
}

export const EXAMPLE_PREVIEW: Static<typeof BillPreview> = {
  digest: 'pVkJm0o4k5p4bJf5sYlqk3a7dK0c9m2nT8xW1zQeR6U',
  period_is_over: true,
  document: { ...DOCUMENT, number: null },
}

export const EXAMPLE_HEAD: BillHead = {
  id: 'bil_01a1fa172a0277f3983322718874f2e5',
  number: '2026-0001',
  kind: 'bill',
  state: 'sent',
  client: CLIENT,
  project: null,
  period: DOCUMENT.period,
  issued_on: DOCUMENT.issued_on,
  due_on: DOCUMENT.due_on,
  currency: 'EUR',
  basis: 'cost',
  provisional: false,
  subtotal: 10.71,
  tax: 2.03,
  total: 12.74,
  amount_paid: 0,
  balance: 12.74,
  overdue: false,
  entries: 14,
  delivery: 'queued',
  paid: null,
  void: null,
  replaces: null,
  corrects: null,
  released_by: null,
  created_at: '2026-12-01T09:00:00.000Z',
  created_by: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
}

export const EXAMPLE_BILL: Bill = {
  ...EXAMPLE_HEAD,
  corrected_by: [],
  replaced_by: [],
  remaining: null,
  payments: [],
  deliveries: [
    {
      to: 'bills@acme.example',
      notice: 'sent',
      state: 'queued',
      attempts: 0,
      next_attempt_at: '2026-12-01T09:00:00.000Z',
      answer: null,
      created_at: '2026-12-01T09:00:00.000Z',
      sent_at: null,
    },
  ],
  document: DOCUMENT,
}

const CORRECTS = { id: EXAMPLE_HEAD.id, number: EXAMPLE_HEAD.number }
const CREDITED = { subtotal: -12.5, total: -14.88 }

export const EXAMPLE_CREDIT_NOTE: Bill = {
  ...EXAMPLE_HEAD,
  ...CREDITED,
  id: 'bil_01a1fa172a0277f3983322718874f2e6',
  number: '2026-0002',
  kind: 'credit_note',
  entries: 0,
  tax: -2.38,
  balance: -14.88,
  delivery: 'none',
  corrects: CORRECTS,
  corrected_by: [],
  replaced_by: [],
  remaining: null,
  payments: [],
  deliveries: [],
  document: {
    ...DOCUMENT,
    ...CREDITED,
    kind: 'credit_note',
    number: '2026-0002',
    corrects: CORRECTS,
    sections: [],
    extra_lines: [{ text: 'Sessions on 3 November were billed twice', amount: -12.5 }],
    entries: 0,
    cost: 0,
    list_value: 0,
    tax: { name: 'VAT', percent: 19, amount: -2.38 },
  },
}

const PAYMENT: Bill['payments'][number] = {
  number: 1,
  amount: 12.74,
  on: '2026-12-03',
  reference: 'Transfer on 3 December',
  offset_against: null,
  created_at: '2026-12-03T10:00:00.000Z',
  created_by: EXAMPLE_HEAD.created_by,
  reversed: null,
}

export const EXAMPLE_PAID: Bill = {
  ...EXAMPLE_BILL,
  state: 'paid',
  amount_paid: 12.74,
  balance: 0,
  paid: { on: '2026-12-03', reference: 'Transfer on 3 December' },
  remaining: { subtotal: 10.71, tax: 2.03, total: 12.74 },
  payments: [PAYMENT],
}

export const EXAMPLE_UNPAID: Bill = {
  ...EXAMPLE_BILL,
  payments: [
    {
      ...PAYMENT,
      reversed: {
        at: '2026-12-05T10:00:00.000Z',
        by: EXAMPLE_HEAD.created_by,
        reason: 'The direct debit was returned.',
      },
    },
  ],
}

export const EXAMPLE_TOTALS: Static<typeof BillTotals> = {
  data: [
    { currency: 'EUR', bills: 12, total: 1528.8, amount_paid: 1401.4, balance: 137.4, credit: 10, overdue: 12.74 },
  ],
}
