/** Bills in the API: requests and responses. One source for validation and OpenAPI. */
import { type Static, Type } from '@sinclair/typebox'
import { conditions, exactlyOne, excludes } from '../../schema/conditions.ts'
import {
  array,
  choiceOf,
  component,
  day,
  emailAddress,
  flag,
  integer,
  listOf,
  moment,
  month,
  number,
  object,
  oneOf,
  orNull,
  strict,
} from '../../schema/types.ts'
import { COST_BASES } from '../../shared/cost-basis.ts'
import { amount, BASIS, BILL_KINDS, BillDocument, basis, percent, Reference, reference } from './document-schema.ts'

export type { BillLine, BillSection, LeftOut, LeftOutReason } from './document-schema.ts'
export { BILL_KINDS, BillDocument }

const text = (description: string, maxLength: number, examples: string[] = []) =>
  Type.String({
    description,
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$',
    errorMessage: `must be 1 to ${maxLength} characters long, without control characters`,
    examples,
  })
export const BILL_STATES = ['sent', 'paid', 'void'] as const

/** More than anyone reads; a longer list should be a file. */
const EXTRA_LINES_LIMIT = 100

/** More units of a currency per US dollar than of any that is in use. */
export const RATE_LIMIT = 1_000_000

const LineGroup = Type.String({
  pattern: '^(project|ticket|model|agent_manager|agent_name|label:[a-z0-9_.-]{1,64})$',
  errorMessage: 'must be project, ticket, model, agent_manager, agent_name or label:<name>',
})

const ExtraLine = object({
  text: text('Description of the line.', 500, ['Setup']),
  amount: amount('Can be negative. At most as many decimals as the currency’s minor unit.'),
})

const request = {
  period: Type.Optional(
    object('Days in the organization’s time zone. Either this or `month` is required.', {
      from: day('The first day.'),
      to: day('The last day, inclusive.'),
    }),
  ),
  month: Type.Optional(month('A calendar month, instead of a period.')),
  client: Type.Optional(text('ID or name of the client whose projects to bill.', 200, ['Acme'])),
  project: Type.Optional(
    text(
      'ID, key, name or alias of the project to bill. If neither client nor project is given, everything is billed.',
      200,
      ['ACME'],
    ),
  ),
  group_by: Type.Optional(array('How to group lines. Default: project and ticket.', LineGroup, { maxItems: 4 })),
  markup: Type.Optional(percent('Overrides the markups of projects, client and organization.')),
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3}$',
      description: 'ISO 4217 code. Default: the client’s currency, or else the organization’s.',
      errorMessage: 'must be an ISO 4217 currency code, such as EUR',
      examples: ['EUR'],
    }),
  ),
  exchange_rate: Type.Optional(
    number(
      'Units of the bill’s currency per US dollar, with at most 10 decimals. Required unless the currency is USD.',
      { exclusiveMinimum: 0, maximum: RATE_LIMIT, examples: [0.92] },
    ),
  ),
  extra_lines: Type.Optional(Type.Array(ExtraLine, { maxItems: EXTRA_LINES_LIMIT })),
  tax: Type.Optional(
    object('Tax on the subtotal.', {
      name: Type.Optional(text('Name of the tax. Default: Tax.', 50, ['VAT'])),
      percent: number('Percentage of the subtotal, with at most 4 decimals.', { minimum: 0, maximum: 100 }),
    }),
  ),
  note: Type.Optional(text('Shown above the lines.', 4_000)),
  purchase_order: Type.Optional(text('The client’s purchase order number.', 200, ['PO-1187'])),
  due_days: Type.Optional(
    integer('Days until payment is due. Default: the organization’s setting.', { minimum: 0, maximum: 365 }),
  ),
  leave_unpriced: Type.Optional(
    flag('Send the bill without unpriced entries. Otherwise, unpriced entries cause an error.'),
  ),
  include_earlier: Type.Optional(
    flag(
      'Whether unbilled entries from before the period are on this bill, in a section of their own. Required if there are any.',
    ),
  ),
  basis: Type.Optional(choiceOf(COST_BASES, `By which amount entries are billed. Default: \`cost\`. ${BASIS}`)),
  provisional: Type.Optional(
    flag(
      'With the basis `marginal` or `allocated`: whether to bill shares of periods of plans that are not closed, and mark the bill as provisional. Otherwise, they cause an error.',
    ),
  ),
  show_cost: Type.Optional(flag('Whether documents show the cost and markup of each line.')),
  show_active_time: Type.Optional(
    flag('Whether documents show how long agents worked for each line. Amounts do not depend on it.'),
  ),
  replaces: Type.Optional(text('ID or number of the void bill that this one replaces.', 50, ['2026-0001'])),
}

const terms = conditions(
  exactlyOne('period', 'month', {
    pointer: '/period',
    code: 'required',
    message: 'exactly one of period and month is required',
  }),
  excludes('client', ['project'], {
    pointer: '/project',
    code: 'not_allowed',
    message: 'cannot be combined with client; give one of them',
  }),
)

export const BillRequest = Type.Object(request, { ...strict, ...terms, $id: 'BillRequest' })
export type BillRequest = Static<typeof BillRequest>

export const BillSending = Type.Object(
  {
    ...request,
    digest: Type.Optional(
      Type.String({
        description:
          'The `digest` of a preview. If the bill has changed since then, the request fails with `preview_changed`.',
        maxLength: 100,
      }),
    ),
    deliver_to: Type.Optional(
      array(
        'E-mail addresses to send the bill to. Default: the client’s address. Send an empty list to skip delivery.',
        emailAddress({ maxLength: 254, description: 'An e-mail address.' }),
        { maxItems: 10 },
      ),
    ),
    message: Type.Optional(text('The text of the e-mail.', 10_000)),
    draft: Type.Optional(
      Type.String({
        description:
          'The id of the draft (bdr_…) that becomes this bill, and is deleted with it. If it is gone, because it was sent or deleted, the request fails with `draft_gone`. For signed-in people only.',
        maxLength: 100,
      }),
    ),
  },
  { ...strict, ...terms, $id: 'BillSending' },
)
export type BillSending = Static<typeof BillSending>

export const BillPreview = component('BillPreview', {
  digest: Type.String({ description: 'Identifies exactly this bill. Include it when you send the bill.' }),
  period_is_over: flag(
    'False if the period contains today or days after it. Such a bill can be sent, but what is recorded for the rest of the period needs another one: ask first.',
  ),
  document: BillDocument,
})

const Delivery = object({
  to: Type.String(),
  notice: oneOf(
    ['sent', 'void', 'reminder'] as const,
    '`sent` delivers the bill, `void` the void notice, `reminder` reminds of an overdue bill.',
  ),
  state: oneOf(['queued', 'sent', 'failed'] as const, 'State of the delivery.'),
  attempts: Type.Integer(),
  next_attempt_at: orNull(moment('Time of the next attempt.')),
  answer: orNull(Type.String({ description: 'Last response of the mail server.' })),
  created_at: moment('When the e-mail was queued.'),
  sent_at: orNull(moment('When the mail server accepted the e-mail.')),
})

const Person = orNull(object('Null for the command line.', { id: Type.String(), name: Type.String() }))

const Payment = object({
  number: integer('Counts up from 1 in each bill.'),
  amount: amount('Negative for a refund of a credit note.'),
  on: day('Date of the payment.'),
  reference: orNull(Type.String()),
  offset_against: orNull(
    object(
      'Of an amount that was not transferred: the credit note that it was offset against; on a credit note, the bill.',
      { id: Type.String(), number: Type.String() },
    ),
  ),
  created_at: moment('When the payment was recorded.'),
  created_by: Person,
  reversed: orNull(
    object('Null while the payment counts.', {
      at: moment('When the payment was reversed.'),
      by: Person,
      reason: Type.String(),
    }),
  ),
})

const head = {
  id: Type.String({ examples: ['bil_01a1fa172a0277f3983322718874f2ef'] }),
  number: Type.String({ examples: ['2026-0001'] }),
  kind: oneOf(BILL_KINDS, 'Bill or credit note.'),
  state: oneOf(BILL_STATES, '`sent`, `paid` while payments cover the total, or `void`.'),
  client: orNull(object({ id: Type.String(), name: Type.String() })),
  project: orNull(object({ id: Type.String(), key: Type.String(), name: Type.String() })),
  period: object({ from: Type.String(), to: Type.String() }),
  issued_on: Type.String(),
  due_on: Type.String(),
  currency: Type.String(),
  basis: basis('By which amount entries are billed.'),
  provisional: flag('Whether it contains shares of periods of plans that were not closed.'),
  subtotal: Type.Number(),
  tax: Type.Number(),
  total: Type.Number(),
  amount_paid: amount('Sum of the payments that were not reversed.'),
  balance: amount(
    'What is still to be paid: the total less the payments. Negative for a credit note, 0 for a void bill.',
  ),
  overdue: flag('Whether this is a bill with an open balance after the day on which it was due.'),
  entries: Type.Integer(),
  delivery: {
    ...oneOf(
      ['none', 'queued', 'sent', 'failed'] as const,
      'The worst state among the most recently requested deliveries, without reminders.',
    ),
    // Generated clients would call it BillDelivery, like the delivery itself.
    $id: 'BillDeliveryState',
  },
  paid: orNull(
    object('Day and reference of the last payment, once the bill is paid in full.', {
      on: Type.String(),
      reference: orNull(Type.String()),
    }),
  ),
  void: orNull(object({ at: moment('When the bill was voided.'), reason: Type.String() })),
  replaces: reference,
  corrects: reference,
  released_by: orNull(
    object('The credit note that released the entries of this bill, so that they can be billed again.', {
      id: Type.String(),
      number: Type.String(),
    }),
  ),
  created_at: moment('When the bill was sent.'),
  created_by: orNull(object('Null if sent from the command line.', { id: Type.String(), name: Type.String() })),
}

export const BillHead = component('BillHead', head)
export type BillHead = Static<typeof BillHead>

export const Bill = component(
  'Bill',
  '`document` is the bill as it was sent and never changes. The other fields show its current state.',
  {
    ...head,
    corrected_by: array('Credit notes that correct this bill and are not void.', Reference),
    replaced_by: array('Bills that replace this one.', Reference),
    remaining: orNull(
      object(
        'What credit notes can still credit. Null unless a credit note can correct the bill: it was paid, at least in part, or another credit note corrects it.',
        { subtotal: Type.Number(), tax: Type.Number(), total: Type.Number() },
      ),
    ),
    payments: array('In the order in which they were recorded, with reversed ones.', Payment),
    deliveries: Type.Array(Delivery),
    document: BillDocument,
  },
)
export type Bill = Static<typeof Bill>

export const BillList = listOf(BillHead, 'BillList')

export const LastBillBody = orNull(
  object('The last bill that is not void.', {
    id: Type.String(),
    number: Type.String(),
    issued_on: day('Date on which it was sent.'),
    period: object({ from: day('First day.'), to: day('Last day.') }),
    total: Type.Number(),
    currency: Type.String(),
    basis: basis('By which amount its entries were billed.'),
  }),
)

export const RememberedRate = orNull(
  object('Of the last bill in this currency. Rates age: check it.', {
    rate: number('Units of the currency per US dollar.'),
    on: day('Date of that bill.'),
  }),
)

export const UsualTerms = component('UsualTerms', {
  currency: Type.String({ description: 'Of the client, or else of the organization.' }),
  tax: orNull(
    object('Of the client’s settings, or else of its last bill.', { name: Type.String(), percent: Type.Number() }),
  ),
  exchange_rate: RememberedRate,
  group_by: orNull(array('Of the last bill; null without one.', Type.String())),
  due_days: orNull(integer('Of the last bill; null without one.')),
  show_cost: flag('Of the last bill.'),
  show_active_time: flag('Of the last bill.'),
  basis: basis('Of the last bill, or else the setting of the organization.'),
  last_bill: LastBillBody,
})
export type UsualTerms = Static<typeof UsualTerms>

export const BillTotals = component('BillTotals', 'One item per currency.', {
  data: Type.Array(
    object({
      currency: Type.String(),
      bills: integer('Number of bills and credit notes that are not void.'),
      total: amount('Credit notes are negative.'),
      amount_paid: amount('Payments less refunds.'),
      balance: amount('What is still to be paid of bills. Credit notes do not reduce it before they are offset.'),
      credit: amount(
        'What of credit notes is neither refunded nor offset, as a positive amount: `total` is `amount_paid` plus `balance` less `credit`.',
      ),
      overdue: amount('The part of `balance` that is overdue.'),
    }),
  ),
})
export type BillTotals = Static<typeof BillTotals>

export const BillVoiding = component('BillVoiding', {
  reason: text('Reason, shown on the void notice.', 1_000),
  deliver: Type.Optional(flag('Whether to send the void notice to the recipients of the bill. Default: true.')),
})
export type BillVoiding = Static<typeof BillVoiding>

export const BillPayment = component('BillPayment', {
  amount: Type.Optional(
    amount('Default: the open balance, which it must not exceed. A refund of a credit note is negative.'),
  ),
  on: Type.Optional(day('Date of the payment. Default: today.')),
  reference: Type.Optional(text('Payment reference, such as that of the transfer.', 200)),
})
export type BillPayment = Static<typeof BillPayment>

export const PaymentReversal = component('PaymentReversal', {
  reason: text('Reason. The client does not see it.', 1_000, ['The direct debit was returned.']),
})
export type PaymentReversal = Static<typeof PaymentReversal>

export const BillDelivery = component('BillDelivery', {
  to: Type.Optional(
    array('E-mail addresses. Default: the client’s address.', emailAddress({ maxLength: 254 }), {
      minItems: 1,
      maxItems: 10,
    }),
  ),
  message: Type.Optional(text('The text of the e-mail.', 10_000)),
})
export type BillDelivery = Static<typeof BillDelivery>

export const CreditNoteRequest = component('CreditNoteRequest', {
  lines: Type.Optional(
    array(
      'Amounts to credit, before tax. Default: the whole remaining amount.',
      object({
        text: text('Description of the correction.', 500),
        amount: amount('Credited amount, as a positive number.'),
      }),
      { minItems: 1, maxItems: EXTRA_LINES_LIMIT },
    ),
  ),
  note: Type.Optional(text('Shown above the lines.', 4_000)),
  release: Type.Optional(
    flag(
      'Whether the entries of the bill return to their earlier states and can be billed again. Only for a credit note for the whole remaining amount; it cannot be voided. Default: false.',
    ),
  ),
})
export type CreditNoteRequest = Static<typeof CreditNoteRequest>
