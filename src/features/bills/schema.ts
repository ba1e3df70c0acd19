/** Bills in the API: requests and responses. One source for validation and OpenAPI. */
import { type Static, Type } from '@sinclair/typebox'
import { conditions, exactlyOne, excludes } from '../../schema/conditions.ts'
import { day, emailAddress, listOf, moment, month, oneOf, orNull, strict } from '../../schema/types.ts'
import { amount, BILL_KINDS, BillDocument, percent, Reference, reference } from './document-schema.ts'

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

const ExtraLine = Type.Object(
  {
    text: text('Description of the line.', 500, ['Setup']),
    amount: amount('Can be negative. At most as many decimals as the currency’s minor unit.'),
  },
  strict,
)

const request = {
  period: Type.Optional(
    Type.Object(
      { from: day('The first day.'), to: day('The last day, inclusive.') },
      { ...strict, description: 'Days in the organization’s time zone. Either this or `month` is required.' },
    ),
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
  group_by: Type.Optional(
    Type.Array(LineGroup, { description: 'How to group lines. Default: project and ticket.', maxItems: 4 }),
  ),
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
    Type.Number({
      description:
        'Units of the bill’s currency per US dollar, with at most 10 decimals. Required unless the currency is USD.',
      exclusiveMinimum: 0,
      maximum: RATE_LIMIT,
      examples: [0.92],
    }),
  ),
  extra_lines: Type.Optional(Type.Array(ExtraLine, { maxItems: EXTRA_LINES_LIMIT })),
  tax: Type.Optional(
    Type.Object(
      {
        name: Type.Optional(text('Name of the tax. Default: Tax.', 50, ['VAT'])),
        percent: Type.Number({
          description: 'Percentage of the subtotal, with at most 4 decimals.',
          minimum: 0,
          maximum: 100,
        }),
      },
      { ...strict, description: 'Tax on the subtotal.' },
    ),
  ),
  note: Type.Optional(text('Shown above the lines.', 4_000)),
  purchase_order: Type.Optional(text('The client’s purchase order number.', 200, ['PO-1187'])),
  due_days: Type.Optional(
    Type.Integer({
      description: 'Days until payment is due. Default: the organization’s setting.',
      minimum: 0,
      maximum: 365,
    }),
  ),
  leave_unpriced: Type.Optional(
    Type.Boolean({
      description: 'Send the bill without unpriced entries. Otherwise, unpriced entries cause an error.',
    }),
  ),
  include_earlier: Type.Optional(
    Type.Boolean({
      description:
        'Whether unbilled entries from before the period are on this bill, in a section of their own. Required if there are any.',
    }),
  ),
  show_cost: Type.Optional(Type.Boolean({ description: 'Whether documents show the cost and markup of each line.' })),
  show_active_time: Type.Optional(
    Type.Boolean({
      description: 'Whether documents show how long agents worked for each line. Amounts do not depend on it.',
    }),
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
      Type.Array(emailAddress({ maxLength: 254, description: 'An e-mail address.' }), {
        description:
          'E-mail addresses to send the bill to. Default: the client’s address. Send an empty list to skip delivery.',
        maxItems: 10,
      }),
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

export const BillPreview = Type.Object(
  {
    digest: Type.String({ description: 'Identifies exactly this bill. Include it when you send the bill.' }),
    period_is_over: Type.Boolean({
      description:
        'False if the period contains today or days after it. Such a bill can be sent, but what is recorded for the rest of the period needs another one: ask first.',
    }),
    document: BillDocument,
  },
  { ...strict, $id: 'BillPreview' },
)

const Delivery = Type.Object(
  {
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
  },
  strict,
)

const Person = orNull(
  Type.Object({ id: Type.String(), name: Type.String() }, { ...strict, description: 'Null for the command line.' }),
)

const Payment = Type.Object(
  {
    number: Type.Integer({ description: 'Counts up from 1 in each bill.' }),
    amount: amount('Negative for a refund of a credit note.'),
    on: day('Date of the payment.'),
    reference: orNull(Type.String()),
    offset_against: orNull(
      Type.Object(
        { id: Type.String(), number: Type.String() },
        {
          ...strict,
          description:
            'Of an amount that was not transferred: the credit note that it was offset against; on a credit note, the bill.',
        },
      ),
    ),
    created_at: moment('When the payment was recorded.'),
    created_by: Person,
    reversed: orNull(
      Type.Object(
        { at: moment('When the payment was reversed.'), by: Person, reason: Type.String() },
        { ...strict, description: 'Null while the payment counts.' },
      ),
    ),
  },
  strict,
)

const head = {
  id: Type.String({ examples: ['bil_01a1fa172a0277f3983322718874f2ef'] }),
  number: Type.String({ examples: ['2026-0001'] }),
  kind: oneOf(BILL_KINDS, 'Bill or credit note.'),
  state: oneOf(BILL_STATES, '`sent`, `paid` while payments cover the total, or `void`.'),
  client: orNull(Type.Object({ id: Type.String(), name: Type.String() }, strict)),
  project: orNull(Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)),
  period: Type.Object({ from: Type.String(), to: Type.String() }, strict),
  issued_on: Type.String(),
  due_on: Type.String(),
  currency: Type.String(),
  subtotal: Type.Number(),
  tax: Type.Number(),
  total: Type.Number(),
  amount_paid: amount('Sum of the payments that were not reversed.'),
  balance: amount(
    'What is still to be paid: the total less the payments. Negative for a credit note, 0 for a void bill.',
  ),
  overdue: Type.Boolean({
    description: 'Whether this is a bill with an open balance after the day on which it was due.',
  }),
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
    Type.Object(
      { on: Type.String(), reference: orNull(Type.String()) },
      { ...strict, description: 'Day and reference of the last payment, once the bill is paid in full.' },
    ),
  ),
  void: orNull(Type.Object({ at: moment('When the bill was voided.'), reason: Type.String() }, strict)),
  replaces: reference,
  corrects: reference,
  released_by: orNull(
    Type.Object(
      { id: Type.String(), number: Type.String() },
      {
        ...strict,
        description: 'The credit note that released the entries of this bill, so that they can be billed again.',
      },
    ),
  ),
  created_at: moment('When the bill was sent.'),
  created_by: orNull(
    Type.Object(
      { id: Type.String(), name: Type.String() },
      { ...strict, description: 'Null if sent from the command line.' },
    ),
  ),
}

export const BillHead = Type.Object(head, { ...strict, $id: 'BillHead' })
export type BillHead = Static<typeof BillHead>

export const Bill = Type.Object(
  {
    ...head,
    corrected_by: Type.Array(Reference, { description: 'Credit notes that correct this bill and are not void.' }),
    replaced_by: Type.Array(Reference, { description: 'Bills that replace this one.' }),
    remaining: orNull(
      Type.Object(
        { subtotal: Type.Number(), tax: Type.Number(), total: Type.Number() },
        {
          ...strict,
          description:
            'What credit notes can still credit. Null unless a credit note can correct the bill: it was paid, at least in part, or another credit note corrects it.',
        },
      ),
    ),
    payments: Type.Array(Payment, { description: 'In the order in which they were recorded, with reversed ones.' }),
    deliveries: Type.Array(Delivery),
    document: BillDocument,
  },
  {
    ...strict,
    $id: 'Bill',
    description: '`document` is the bill as it was sent and never changes. The other fields show its current state.',
  },
)
export type Bill = Static<typeof Bill>

export const BillList = listOf(BillHead, 'BillList')

export const LastBillBody = orNull(
  Type.Object(
    {
      id: Type.String(),
      number: Type.String(),
      issued_on: day('Date on which it was sent.'),
      period: Type.Object({ from: day('First day.'), to: day('Last day.') }, strict),
      total: Type.Number(),
      currency: Type.String(),
    },
    { ...strict, description: 'The last bill that is not void.' },
  ),
)

export const RememberedRate = orNull(
  Type.Object(
    { rate: Type.Number({ description: 'Units of the currency per US dollar.' }), on: day('Date of that bill.') },
    { ...strict, description: 'Of the last bill in this currency. Rates age: check it.' },
  ),
)

export const UsualTerms = Type.Object(
  {
    currency: Type.String({ description: 'Of the client, or else of the organization.' }),
    tax: orNull(
      Type.Object(
        { name: Type.String(), percent: Type.Number() },
        { ...strict, description: 'Of the client’s settings, or else of its last bill.' },
      ),
    ),
    exchange_rate: RememberedRate,
    group_by: orNull(Type.Array(Type.String(), { description: 'Of the last bill; null without one.' })),
    due_days: orNull(Type.Integer({ description: 'Of the last bill; null without one.' })),
    show_cost: Type.Boolean({ description: 'Of the last bill.' }),
    show_active_time: Type.Boolean({ description: 'Of the last bill.' }),
    last_bill: LastBillBody,
  },
  { ...strict, $id: 'UsualTerms' },
)
export type UsualTerms = Static<typeof UsualTerms>

export const BillTotals = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          currency: Type.String(),
          bills: Type.Integer({ description: 'Number of bills and credit notes that are not void.' }),
          total: amount('Credit notes are negative.'),
          amount_paid: amount('Payments less refunds.'),
          balance: amount('What is still to be paid of bills. Credit notes do not reduce it before they are offset.'),
          credit: amount(
            'What of credit notes is neither refunded nor offset, as a positive amount: `total` is `amount_paid` plus `balance` less `credit`.',
          ),
          overdue: amount('The part of `balance` that is overdue.'),
        },
        strict,
      ),
    ),
  },
  { ...strict, $id: 'BillTotals', description: 'One item per currency.' },
)
export type BillTotals = Static<typeof BillTotals>

export const BillVoiding = Type.Object(
  {
    reason: text('Reason, shown on the void notice.', 1_000),
    deliver: Type.Optional(
      Type.Boolean({ description: 'Whether to send the void notice to the recipients of the bill. Default: true.' }),
    ),
  },
  { ...strict, $id: 'BillVoiding' },
)
export type BillVoiding = Static<typeof BillVoiding>

export const BillPayment = Type.Object(
  {
    amount: Type.Optional(
      amount('Default: the open balance, which it must not exceed. A refund of a credit note is negative.'),
    ),
    on: Type.Optional(day('Date of the payment. Default: today.')),
    reference: Type.Optional(text('Payment reference, such as that of the transfer.', 200)),
  },
  { ...strict, $id: 'BillPayment' },
)
export type BillPayment = Static<typeof BillPayment>

export const PaymentReversal = Type.Object(
  { reason: text('Reason. The client does not see it.', 1_000, ['The direct debit was returned.']) },
  { ...strict, $id: 'PaymentReversal' },
)
export type PaymentReversal = Static<typeof PaymentReversal>

export const BillDelivery = Type.Object(
  {
    to: Type.Optional(
      Type.Array(emailAddress({ maxLength: 254 }), {
        description: 'E-mail addresses. Default: the client’s address.',
        minItems: 1,
        maxItems: 10,
      }),
    ),
    message: Type.Optional(text('The text of the e-mail.', 10_000)),
  },
  { ...strict, $id: 'BillDelivery' },
)
export type BillDelivery = Static<typeof BillDelivery>

export const CreditNoteRequest = Type.Object(
  {
    lines: Type.Optional(
      Type.Array(
        Type.Object(
          {
            text: text('Description of the correction.', 500),
            amount: amount('Credited amount, as a positive number.'),
          },
          strict,
        ),
        {
          description: 'Amounts to credit, before tax. Default: the whole remaining amount.',
          minItems: 1,
          maxItems: EXTRA_LINES_LIMIT,
        },
      ),
    ),
    note: Type.Optional(text('Shown above the lines.', 4_000)),
    release: Type.Optional(
      Type.Boolean({
        description:
          'Whether the entries of the bill return to their earlier states and can be billed again. Only for a credit note for the whole remaining amount; it cannot be voided. Default: false.',
      }),
    ),
  },
  { ...strict, $id: 'CreditNoteRequest' },
)
export type CreditNoteRequest = Static<typeof CreditNoteRequest>
