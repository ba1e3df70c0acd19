/** Bills before they are sent: what is left to bill, what a bill would be, and sending it. */
import type { Caller } from '../../../access/caller.ts'
import { Problem } from '../../../errors.ts'
import { endpoint, operation, result, type Served } from '../../../operations/operation.ts'
import {
  choiceParameter,
  flagParameter,
  listParameter,
  parameter,
  textParameter,
} from '../../../operations/parameters.ts'
import { COST_BASES } from '../../../shared/cost-basis.ts'
import { BASIS } from '../document-schema.ts'
import { EXAMPLE_PREVIEW, EXAMPLE_REQUEST } from '../examples.ts'
import { readBillRun, readUsualTerms } from '../query.ts'
import { EXAMPLE_RUN, EXAMPLE_TERMS } from '../run-examples.ts'
import { BillRun } from '../run-schema.ts'
import { BillPreview, BillRequest, BillSending, UsualTerms } from '../schema.ts'
import { BILL, type Needs, READING, submissionOf, submitted } from './bill.ts'

/** A scheduled job too, with a service token made for it. */
const sending = { tag: 'Bills', allow: { service: ['billing', 'admin'], session: ['billing', 'admin'] } } as const

/** Whether it is not a service token, or one that was made for bills. */
export const maySendBills = (caller: Caller) => caller.kind !== 'service' || caller.token.allowBills

/** Throws 403 for other service tokens. */
function requireSender({ caller }: Served): void {
  if (!caller || maySendBills(caller)) return
  throw new Problem(
    'forbidden',
    'This service token is not allowed to send bills. Create one that is: `tally tokens create --kind svc --allow bills`.',
  )
}

export const getBillRun = operation({
  ...READING,
  id: 'getBillRun',
  method: 'GET',
  path: '/bills/run',
  summary: 'Prepare the bills of a month',
  description:
    'Returns what is left to do in a month, and for each client the bill that would be sent now. The figures are those of the previews. To send a bill, POST `request` with `digest` to `/bills`, under `idempotency_key`. Nothing is saved: what has been billed is known from the bills.',
  query: {
    month: parameter({
      type: 'string',
      pattern: '^\\d{4}-(0[1-9]|1[0-2])$',
      description: 'The month to bill. Required.',
    }),
    include_earlier: flagParameter(
      'Whether bills include unbilled entries from before the month. Without it, clients that have some are blocked.',
    ),
    leave_unpriced: flagParameter(
      'Whether bills leave out unpriced entries. Without it, clients that have some are blocked.',
    ),
    basis: choiceParameter(COST_BASES, `The basis of all bills, instead of that of the last bill of each. ${BASIS}`),
    provisional: flagParameter(
      'Whether bills by marginal or allocated cost contain shares of periods of plans that are not closed, marked as provisional. Without it, clients that have some are blocked.',
    ),
    rate: listParameter('Exchange rate of a currency, such as `EUR:0.92`, instead of that of the client’s last bill.', {
      type: 'string',
    }),
  },
  answer: result('The billing run.', BillRun, EXAMPLE_RUN),
  problems: ['database_deadline', 'fees_hidden'],
  run: async ({ bills }: Needs, { query, viewer }) => {
    const run = await bills.run(readBillRun(query))
    for (const { basis } of run.data) await bills.requireBasis(viewer, basis)
    return run
  },
})

const getUsualBillTerms = operation({
  ...READING,
  id: 'getUsualBillTerms',
  method: 'GET',
  path: '/bills/terms',
  summary: 'Get the usual terms of a client or project',
  description:
    'Returns the terms with which a client or project is usually billed: from the client’s settings, otherwise its last bill. They are suggestions: a bill has the terms of its request.',
  query: {
    client: textParameter('ID or name of a client.'),
    project: textParameter('ID, key, name or alias of a project.'),
  },
  answer: result('The terms.', UsualTerms, EXAMPLE_TERMS),
  run: ({ bills }: Needs, { query }) => bills.usualTerms(readUsualTerms(query)),
})

const previewBill = endpoint({
  ...sending,
  // It saves nothing.
  allow: { ...sending.allow, read: ['billing', 'admin'] },
  id: 'previewBill',
  scope: 'bills:read',
  method: 'POST',
  path: '/bills/preview',
  summary: 'Preview a bill',
  description:
    'Returns the document that would be sent now, and the entries that are excluded with the reasons. Nothing is saved. `digest` identifies exactly this bill.',
  body: BillRequest,
  example: EXAMPLE_REQUEST,
  answer: result('The preview of the bill.', BillPreview, EXAMPLE_PREVIEW),
  problems: [
    'not_found',
    'unpriced_entries',
    'earlier_entries',
    'period_not_closed',
    'fees_hidden',
    'bill_too_large',
    'wrong_status',
    'database_deadline',
  ],
  run: async ({ bills }: Needs, { body, served, viewer }) => {
    requireSender(served)
    await bills.requireBasis(viewer, body.basis)
    return bills.preview(body)
  },
})

const sendBill = endpoint({
  ...sending,
  id: 'sendBill',
  scope: 'bills:write',
  method: 'POST',
  path: '/bills',
  summary: 'Send a bill',
  description:
    'Freezes every unbilled entry in the scope and period, assigns the bill its number and queues its delivery, in one transaction. A sent bill never changes: you can mark it as paid, void it, or correct it with a credit note.',
  headers: ['Idempotency-Key'],
  body: BillSending,
  example: EXAMPLE_REQUEST,
  answer: [
    { ...BILL, status: 201, description: 'The bill was sent.' },
    {
      ...BILL,
      description: 'The bill was already sent with this Idempotency-Key.',
      headers: ['Location', 'Idempotent-Replayed'],
    },
  ],
  problems: [
    'not_found',
    'nothing_to_bill',
    'unpriced_entries',
    'earlier_entries',
    'period_not_closed',
    'fees_hidden',
    'bill_too_large',
    'preview_changed',
    'draft_gone',
    'wrong_status',
    'idempotency_key_reused',
    'database_deadline',
  ],
  run: async ({ bills }: Needs, call) => {
    const { body, served } = call
    requireSender(served)
    await bills.requireBasis(call.viewer, body.basis)
    if (body.draft !== undefined && served.caller?.kind !== 'session') throw draftsArePeoples()
    return submitted(bills, served, await bills.send(body, submissionOf(call, body)))
  },
})

function draftsArePeoples(): Problem {
  return new Problem('forbidden', 'Only people who are signed in send drafts. Leave out `draft`.')
}

export const billSendingOperations = [getBillRun, getUsualBillTerms, previewBill, sendBill] as const
