import { listing, operation, result } from '../../../operations/operation.ts'
import { flagParameter, listParameter, listSort, parameter, textParameter } from '../../../operations/parameters.ts'
import { DAY } from '../../../schema/types.ts'
import { BILL_COLUMNS } from '../csv.ts'
import { EXAMPLE_BILL, EXAMPLE_CREDIT_NOTE, EXAMPLE_HEAD, EXAMPLE_TOTALS } from '../examples.ts'
import { readBillList, readBillTotals } from '../query.ts'
import { BILL_STATES, BillDelivery, BillList, BillTotals, BillVoiding, CreditNoteRequest } from '../schema.ts'
import type { ListedBill } from '../service.ts'
import { BILL_SORTS } from '../sorts.ts'
import { BILL, CHANGING, type Needs, one, READING, seen } from './bill.ts'

const filters = {
  state: listParameter('State.', { type: 'string', enum: [...BILL_STATES] }),
  client: textParameter('ID or name of a client.'),
  project: textParameter('ID, key, name or alias of a project.'),
  ticket: textParameter('ID or key of a ticket: bills that contain entries of it. A void bill contains none.'),
  from: parameter({ type: 'string', pattern: DAY, description: 'Issued on or after this date.' }),
  to: parameter({ type: 'string', pattern: DAY, description: 'Issued on or before this date.' }),
  month: textParameter('Whose period ends in this month, such as `2026-11`: the bills of a billing run.'),
  overdue: flagParameter('Only bills that are overdue, or only others.'),
  delivery_failed: flagParameter('Only bills with the delivery state `failed`, or only others.'),
}

export const listBills = listing({
  ...READING,
  id: 'listBills',
  path: '/bills',
  summary: 'List bills',
  description: 'Returns bills without their documents, most recently sent first unless sorted otherwise.',
  plural: 'bills',
  query: { ...filters, ...listSort(BILL_SORTS) },
  page: BillList,
  example: EXAMPLE_HEAD,
  columns: BILL_COLUMNS,
  problems: ['not_found'],
  read: readBillList,
  check: ({ bills }: Needs, filter) => bills.requireKnown(filter),
  rows: ({ bills }: Needs) => bills.billRows,
  bodyOf: ({ head }: ListedBill) => head,
})

export const getBillTotals = operation({
  ...READING,
  id: 'getBillTotals',
  method: 'GET',
  path: '/bills/totals',
  summary: 'Sum up bills',
  description:
    'Returns the total, paid, open and overdue amounts of the bills that match, by currency, and the open credit of credit notes. Void bills count nothing; credit notes are negative in the total.',
  query: filters,
  answer: result('One item per currency.', BillTotals, EXAMPLE_TOTALS),
  problems: ['not_found'],
  run: ({ bills }: Needs, { query }) => bills.sumBills(readBillTotals(query)),
})

export const getBill = operation({
  ...READING,
  ...one,
  id: 'getBill',
  method: 'GET',
  path: '/bills/:id',
  summary: 'Get a bill',
  description: 'Returns the state of the bill and its document, byte for byte as it was sent.',
  answer: BILL,
  run: async ({ bills }: Needs, { params }) => seen(bills, await bills.getBill(params.id)),
})

export const voidBill = operation({
  ...CHANGING,
  ...one,
  id: 'voidBill',
  method: 'POST',
  path: '/bills/:id/void',
  summary: 'Void a bill',
  description: 'Restores the entries to their earlier states. The bill keeps its number and document.',
  body: BillVoiding,
  example: { reason: 'Sent to the wrong address.' },
  answer: {
    ...BILL,
    description: 'The voided bill.',
    example: {
      ...EXAMPLE_BILL,
      state: 'void',
      void: { at: '2026-12-02T10:00:00.000Z', reason: 'Sent to the wrong address.' },
    },
  },
  problems: ['wrong_status'],
  run: async ({ bills }: Needs, { params, body, party }) =>
    seen(bills, await bills.voidBill(params.id, body, party.by)),
})

export const deliverBill = operation({
  ...CHANGING,
  ...one,
  id: 'deliverBill',
  method: 'POST',
  path: '/bills/:id/deliver',
  summary: 'Resend a bill by e-mail',
  description:
    'Queues an e-mail to the client or to the given addresses. For a void bill, the void notice is sent. `deliveries` shows the state of each e-mail.',
  body: BillDelivery,
  example: { to: ['bills@acme.example'], message: 'Here is another copy, as requested.' },
  answer: {
    ...BILL,
    status: 202,
    description: 'The e-mail is queued.',
    example: { ...EXAMPLE_BILL, delivery: 'queued' },
  },
  problems: ['mail_not_set_up'],
  run: async ({ bills }: Needs, { params, body, party }) =>
    seen(bills, await bills.deliverBill(params.id, body, party.by)),
})

export const creditBill = operation({
  ...CHANGING,
  ...one,
  id: 'creditBill',
  method: 'POST',
  path: '/bills/:id/credit-note',
  summary: 'Correct a paid bill with a credit note',
  description:
    'Creates a bill with its own number and negative lines: the given lines, or one line for the full remaining amount.',
  body: CreditNoteRequest,
  example: { lines: [{ text: 'Sessions on 3 November were billed twice', amount: 12.5 }] },
  answer: { ...BILL, status: 201, description: 'The credit note.', example: EXAMPLE_CREDIT_NOTE },
  problems: ['wrong_status'],
  run: async ({ bills }: Needs, { params, body, party }) =>
    seen(bills, await bills.creditBill(params.id, body, party.by)),
})

export const billOperations = [listBills, getBillTotals, getBill, voidBill, deliverBill, creditBill] as const
