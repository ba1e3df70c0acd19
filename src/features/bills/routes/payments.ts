import { Elysia } from 'elysia'
import type { Caller } from '../../../access/caller.ts'
import { access, actorOf, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { readIdempotencyKey } from '../../../http/idempotency-key.ts'
import { EXAMPLE_PAID, EXAMPLE_UNPAID } from '../examples.ts'
import { readPaymentNumber } from '../query.ts'
import { BILL_PATH, billAnswer, submittedUnder } from '../responses.ts'
import { Bill, BillPayment, PaymentReversal } from '../schema.ts'
import type { BillsService } from '../service.ts'

const tag = 'Bills'
const MAY_CHANGE = { session: ['billing', 'admin'] } as const
const EXAMPLE_REASON = { reason: 'The direct debit was returned.' }

interface Paying {
  params: { id: string }
  body: BillPayment
  caller: Caller | null
  address: () => string
  request: Request
}

export const paymentsRoutes = ({ bills }: { bills: BillsService }) => {
  const answer = billAnswer(bills)

  function pay({ params: { id }, body, caller: sent, address, request }: Paying) {
    const caller = requireCaller(sent, ['session', 'api'])
    // With the bill: a payment of another one under the same key is no repetition.
    const key = submittedUnder(readIdempotencyKey(request.headers.get('idempotency-key')), caller, [id, body])
    return bills.payBill(id, body, { by: actorOf({ caller, address }), key })
  }

  const paying = {
    allow: MAY_CHANGE,
    scope: 'bills:write',
    object: 'bil',
    parse: 'report',
    body: BillPayment,
  } as const

  return new Elysia({ name: 'bill-payments', normalize: false })
    .use(access())
    .post(
      '/:id/payments',
      async ({ params, body, caller, address, request, set }) => {
        const { bill, replayed } = await pay({ params, body, caller, address, request })
        set.status = replayed ? 200 : 201
        if (replayed) set.headers['idempotent-replayed'] = 'true'
        return answer(bill)
      },
      {
        ...paying,
        detail: documented({
          id: 'addBillPayment',
          tag,
          summary: 'Record a payment',
          description:
            'Records a payment of a bill, or a refund of a credit note. The bill is `paid` once payments cover its total; a payment beyond the open balance is refused. With an Idempotency-Key, a payment is recorded only once.',
          headers: ['Idempotency-Key'],
          path: BILL_PATH,
          body: { example: { amount: 12.74, on: '2026-12-03', reference: 'Transfer on 3 December' } },
          responses: {
            201: { description: 'The bill with its payments.', schema: Bill, example: EXAMPLE_PAID },
            200: {
              description: 'The payment was already recorded with this Idempotency-Key.',
              schema: Bill,
              headers: ['Idempotent-Replayed'],
              example: EXAMPLE_PAID,
            },
          },
          problems: ['wrong_status', 'idempotency_key_reused'],
        }),
      },
    )
    .post(
      '/:id/payments/:payment/reverse',
      async ({ params: { id, payment }, body, caller, address }) =>
        answer(
          await bills.unpayBill(id, { ...body, payment: readPaymentNumber(payment) }, actorOf({ caller, address })),
        ),
      {
        allow: MAY_CHANGE,
        scope: 'bills:write',
        object: 'bil',
        parse: 'report',
        body: PaymentReversal,
        detail: documented({
          id: 'reverseBillPayment',
          tag,
          summary: 'Reverse a payment',
          description:
            'For a payment that was recorded by mistake or returned: it stays listed, but no longer counts. What was offset against a credit note is reversed by voiding the credit note.',
          path: { ...BILL_PATH, payment: 'Number of the payment.' },
          body: { example: EXAMPLE_REASON },
          responses: { 200: { description: 'The bill with its payments.', schema: Bill, example: EXAMPLE_UNPAID } },
          problems: ['wrong_status'],
        }),
      },
    )
    .post('/:id/paid', async (context) => answer((await pay(context)).bill), {
      ...paying,
      detail: documented({
        id: 'payBill',
        tag,
        summary: 'Mark a bill as paid',
        description: 'Records a payment of the open balance, or of `amount`, as `POST /bills/{id}/payments` does.',
        headers: ['Idempotency-Key'],
        path: BILL_PATH,
        body: { example: { on: '2026-12-03', reference: 'Transfer on 3 December' } },
        responses: { 200: { description: 'The paid bill.', schema: Bill, example: EXAMPLE_PAID } },
        problems: ['wrong_status', 'idempotency_key_reused'],
      }),
    })
    .post(
      '/:id/unpaid',
      async ({ params, body, caller, address }) =>
        answer(await bills.unpayBill(params.id, body, actorOf({ caller, address }))),
      {
        allow: MAY_CHANGE,
        scope: 'bills:write',
        object: 'bil',
        parse: 'report',
        body: PaymentReversal,
        detail: documented({
          id: 'unpayBill',
          tag,
          summary: 'Mark a bill as unpaid',
          description: 'Reverses all payments of the bill, except for what was offset against credit notes.',
          path: BILL_PATH,
          body: { example: EXAMPLE_REASON },
          responses: { 200: { description: 'The bill with its payments.', schema: Bill, example: EXAMPLE_UNPAID } },
          problems: ['wrong_status'],
        }),
      },
    )
}
