import { endpoint, operation } from '../../../operations/operation.ts'
import { EXAMPLE_PAID, EXAMPLE_UNPAID } from '../examples.ts'
import { readPaymentNumber } from '../query.ts'
import { BillPayment, PaymentReversal } from '../schema.ts'
import { BILL, CHANGING, type Needs, one, params, seen, submissionOf, submitted } from './bill.ts'

const EXAMPLE_REASON = { reason: 'The direct debit was returned.' }

const RECORDED = { ...BILL, description: 'The bill with its payments.', example: EXAMPLE_PAID } as const
const REVERSED = { ...BILL, description: 'The bill with its payments.', example: EXAMPLE_UNPAID } as const

const addBillPayment = endpoint({
  ...CHANGING,
  ...one,
  id: 'addBillPayment',
  method: 'POST',
  path: '/bills/:id/payments',
  summary: 'Record a payment',
  description:
    'Records a payment of a bill, or a refund of a credit note. The bill is `paid` once payments cover its total; a payment beyond the open balance is refused. With an Idempotency-Key, a payment is recorded only once.',
  headers: ['Idempotency-Key'],
  body: BillPayment,
  example: { amount: 12.74, on: '2026-12-03', reference: 'Transfer on 3 December' },
  answer: [
    { ...RECORDED, status: 201, isAddressed: false },
    {
      ...RECORDED,
      description: 'The payment was already recorded with this Idempotency-Key.',
      headers: ['Idempotent-Replayed'],
    },
  ],
  problems: ['wrong_status', 'idempotency_key_reused'],
  run: async (needs: Needs, call) => submitted(needs.bills, call.served, await pay(needs, call)),
})

/** The bill is a part of the request: with the same key, a payment of another bill is a different one. */
const pay = ({ bills }: Needs, call: Submission) =>
  bills.payBill(call.params.id, call.body, submissionOf(call, [call.params.id, call.body]))

type Submission = Parameters<typeof submissionOf>[0] & { params: { id: string }; body: BillPayment }

export const reverseBillPayment = operation({
  ...CHANGING,
  object: 'bil',
  id: 'reverseBillPayment',
  method: 'POST',
  path: '/bills/:id/payments/:payment/reverse',
  summary: 'Reverse a payment',
  description:
    'For a payment that was recorded by mistake or returned: it stays listed, but no longer counts. What was offset against a credit note is reversed by voiding the credit note.',
  params: { ...params, payment: 'Number of the payment.' },
  body: PaymentReversal,
  example: EXAMPLE_REASON,
  answer: REVERSED,
  problems: ['wrong_status'],
  run: async ({ bills }: Needs, { params: { id, payment }, body, party }) =>
    seen(bills, await bills.unpayBill(id, { ...body, payment: readPaymentNumber(payment) }, party.by)),
})

export const payBill = operation({
  ...CHANGING,
  ...one,
  id: 'payBill',
  method: 'POST',
  path: '/bills/:id/paid',
  summary: 'Mark a bill as paid',
  description: 'Records a payment of the open balance, or of `amount`, as `POST /bills/{id}/payments` does.',
  headers: ['Idempotency-Key'],
  body: BillPayment,
  example: { on: '2026-12-03', reference: 'Transfer on 3 December' },
  answer: { ...RECORDED, description: 'The paid bill.' },
  problems: ['wrong_status', 'idempotency_key_reused'],
  run: async (needs: Needs, call) => seen(needs.bills, (await pay(needs, call)).bill),
})

export const unpayBill = operation({
  ...CHANGING,
  ...one,
  id: 'unpayBill',
  method: 'POST',
  path: '/bills/:id/unpaid',
  summary: 'Mark a bill as unpaid',
  description: 'Reverses all payments of the bill, except for what was offset against credit notes.',
  body: PaymentReversal,
  example: EXAMPLE_REASON,
  answer: REVERSED,
  problems: ['wrong_status'],
  run: async ({ bills }: Needs, { params, body, party }) =>
    seen(bills, await bills.unpayBill(params.id, body, party.by)),
})

export const billPaymentOperations = [addBillPayment, reverseBillPayment, payBill, unpayBill] as const
