/** Bills on the wire: what a sending may ask for, and what a bill says. One source for validation and OpenAPI. */
import { type Static, Type } from '@sinclair/typebox'
import { day, listOf, moment, month, oneOf, orNull, strict } from '../../wire.ts'

const text = (description: string, maxLength: number, examples: string[] = []) =>
  Type.String({
    description,
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$',
    errorMessage: `must be a text of 1 to ${maxLength} characters without control characters`,
    examples,
  })
const percent = (description: string) =>
  Type.Number({ description: `${description} Percent, at most 4 decimals.`, minimum: -100, maximum: 10_000 })
const amount = (description: string) => Type.Number({ description: `${description} In the bill’s currency.` })
const dollars = (description: string) => Type.Number({ description: `${description} US dollars.` })

export const BILL_STATES = ['sent', 'paid', 'void'] as const
const BILL_KINDS = ['bill', 'credit_note'] as const

/** More than anybody reads; a bill with more is a file. */
const EXTRA_LINES_LIMIT = 100

const LineGroup = Type.String({
  pattern: '^(project|ticket|model|agent_manager|agent_name|label:[a-z0-9_.-]{1,64})$',
  errorMessage: 'must be project, ticket, model, agent_manager, agent_name or label:<name>',
})

const ExtraLine = Type.Object(
  {
    text: text('What it is for.', 500, ['Setting up']),
    amount: amount('Also negative. Not finer than the currency’s minor unit.'),
  },
  strict,
)

const asked = {
  period: Type.Optional(
    Type.Object(
      { from: day('The first day.'), to: day('The last day, included.') },
      { ...strict, description: 'Days of the organization’s zone. This or `month` is required.' },
    ),
  ),
  month: Type.Optional(month('A whole month instead of a period.')),
  client: Type.Optional(text('Id or name of the client whose projects are billed.', 200, ['Acme'])),
  project: Type.Optional(
    text('Id, key, name or alias of the one project that is billed. With neither, everything is.', 200, ['ACME']),
  ),
  group_by: Type.Optional(
    Type.Array(LineGroup, { description: 'What makes a line; project and ticket where absent.', maxItems: 4 }),
  ),
  markup: Type.Optional(percent('Instead of the markups of projects, client and organization.')),
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3}$',
      description: 'ISO 4217; that of the client, else of the organization, where absent.',
      errorMessage: 'must be an ISO 4217 currency code, such as EUR',
      examples: ['EUR'],
    }),
  ),
  exchange_rate: Type.Optional(
    Type.Number({
      description: 'Units of the bill’s currency per US dollar, at most 10 decimals. Required unless it is USD.',
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      examples: [0.92],
    }),
  ),
  extra_lines: Type.Optional(Type.Array(ExtraLine, { maxItems: EXTRA_LINES_LIMIT })),
  tax: Type.Optional(
    Type.Object(
      {
        name: Type.Optional(text('What it is called; Tax where absent.', 50, ['VAT'])),
        percent: Type.Number({ description: 'Of the subtotal. At most 4 decimals.', minimum: 0, maximum: 100 }),
      },
      { ...strict, description: 'A tax on the subtotal.' },
    ),
  ),
  note: Type.Optional(text('Above the lines.', 4_000)),
  purchase_order: Type.Optional(text('The client’s reference.', 200, ['PO-1187'])),
  due_days: Type.Optional(
    Type.Integer({ description: 'Days until it is due; the organization’s where absent.', minimum: 0, maximum: 365 }),
  ),
  leave_unpriced: Type.Optional(
    Type.Boolean({ description: 'Sends the bill without entries whose cost is unknown, which otherwise refuse it.' }),
  ),
  include_earlier: Type.Optional(
    Type.Boolean({
      description:
        'Whether unbilled entries from before the period are on this bill, in a section of their own. Where there are some, it must be said.',
    }),
  ),
  show_cost: Type.Optional(Type.Boolean({ description: 'Whether documents show the cost and the markup of lines.' })),
  replaces: Type.Optional(text('Id or number of the void bill that this one replaces.', 50, ['2026-0001'])),
}

export const BillRequest = Type.Object(asked, { ...strict, $id: 'BillRequest' })
export type BillRequest = Static<typeof BillRequest>

export const BillSending = Type.Object(
  {
    ...asked,
    digest: Type.Optional(
      Type.String({
        description:
          'The `digest` of the preview that was looked at: refused with `preview_changed` where it no longer fits.',
        maxLength: 100,
      }),
    ),
    deliver_to: Type.Optional(
      Type.Array(Type.String({ maxLength: 254, description: 'An e-mail address.' }), {
        description: 'To whom it is sent by e-mail; the client’s address where absent, nobody where empty.',
        maxItems: 10,
      }),
    ),
    message: Type.Optional(text('The text of the e-mail.', 10_000)),
  },
  { ...strict, $id: 'BillSending' },
)
export type BillSending = Static<typeof BillSending>

const Key = orNull(
  Type.Union([
    Type.String(),
    Type.Object(
      {
        id: Type.String(),
        key: Type.Optional(Type.String()),
        name: orNull(Type.String()),
      },
      strict,
    ),
  ]),
)

const Tokens = Type.Object(
  {
    input: Type.Integer(),
    output: Type.Integer(),
    cache_read: Type.Integer(),
    cache_write: Type.Integer(),
    cache_write_1h: Type.Integer(),
    total: Type.Integer(),
  },
  strict,
)

const BillLine = Type.Object(
  {
    line: Type.Integer({ description: 'Its number, from 1 on, over all sections.' }),
    keys: Type.Record(Type.String(), Key, { description: 'What it is grouped by; null where its entries have none.' }),
    entries: Type.Integer(),
    sessions: Type.Integer(),
    tokens: Tokens,
    cost: dollars('What its entries cost.'),
    list_value: dollars('What they are worth at list prices.'),
    markup: orNull(percent('Null where its entries have several.')),
    amount: amount('What it bills.'),
  },
  strict,
)
export type BillLine = Static<typeof BillLine>

const BillSection = Type.Object(
  { title: orNull(Type.String({ description: 'Null for what lies in the period.' })), lines: Type.Array(BillLine) },
  strict,
)
export type BillSection = Static<typeof BillSection>

const LeftOut = Type.Object(
  {
    entries: Type.Integer(),
    cost: dollars('Of those whose cost is known.'),
    at_least: Type.Boolean({ description: 'There are more than were counted.' }),
  },
  strict,
)
export type LeftOut = Static<typeof LeftOut>

const LEFT_OUT_REASONS = {
  rejected: 'Rejected.',
  unpriced: 'Their cost is unknown.',
  not_approved: 'Not approved, where the organization asks for approval.',
  on_sheets: 'On token sheets that are not approved.',
  not_billable: 'In projects that are not billed.',
  earlier: 'From before the period.',
  unattributed: 'Beside the scope: of the period, and on no project or ticket.',
  without_client: 'Beside the scope: of the period, in projects without a client.',
  without_project: 'Beside the scope: of the period, on tickets without a project.',
} as const
export type LeftOutReason = keyof typeof LEFT_OUT_REASONS

const reasons = Object.fromEntries(
  Object.entries(LEFT_OUT_REASONS).map(([reason, description]) => [reason, { ...LeftOut, description }]),
) as Record<LeftOutReason, typeof LeftOut>

const Party = Type.Object(
  {
    name: Type.String(),
    address: orNull(Type.String()),
    tax_id: orNull(Type.String()),
    email: orNull(Type.String()),
  },
  strict,
)

const Reference = Type.Object({ id: Type.String(), number: Type.String() }, strict)
const reference = orNull(Reference)

export const BillDocument = Type.Object(
  {
    kind: oneOf(BILL_KINDS, 'A credit note corrects a paid bill by negative lines.'),
    number: orNull(Type.String({ description: 'Null in a preview.' })),
    issued_on: day('The day on which it was sent.'),
    due_on: day('The day on which it is due.'),
    time_zone: Type.String({ description: 'In which its days are.' }),
    issuer: Party,
    recipient: orNull(Party),
    scope: Type.Object(
      {
        client: orNull(Type.Object({ id: Type.String(), name: Type.String() }, strict)),
        project: orNull(Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)),
      },
      { ...strict, description: 'Both null: everything.' },
    ),
    period: Type.Object({ from: day('First day.'), to: day('Last day.') }, strict),
    purchase_order: orNull(Type.String()),
    note: orNull(Type.String()),
    footer: orNull(Type.String()),
    replaces: reference,
    corrects: reference,
    currency: Type.String(),
    minor_digits: Type.Integer({ description: 'Digits of its amounts after the point.' }),
    exchange_rate: Type.Number({ description: 'Units of the currency per US dollar.' }),
    group_by: Type.Array(Type.String()),
    show_cost: Type.Boolean(),
    sections: Type.Array(BillSection),
    extra_lines: Type.Array(Type.Object({ text: Type.String(), amount: Type.Number() }, strict)),
    entries: Type.Integer({ description: 'How many entries it bills.' }),
    cost: dollars('What they cost.'),
    list_value: dollars('What they are worth at list prices.'),
    subtotal: amount('Of all lines.'),
    tax: orNull(Type.Object({ name: Type.String(), percent: Type.Number(), amount: Type.Number() }, strict)),
    total: amount('Of subtotal and tax.'),
    left_out: Type.Object(reasons, { ...strict, description: 'What is not on it, and why. Not on its documents.' }),
  },
  { ...strict, $id: 'BillDocument' },
)
export type BillDocument = Static<typeof BillDocument>

export const BillPreview = Type.Object(
  {
    digest: Type.String({ description: 'Stands for exactly this bill: send it along when sending.' }),
    document: BillDocument,
  },
  { ...strict, $id: 'BillPreview' },
)

const Delivery = Type.Object(
  {
    to: Type.String(),
    notice: oneOf(['sent', 'void'] as const, 'What it tells: the bill, or that it is void.'),
    state: oneOf(['queued', 'sent', 'failed'] as const, 'What became of it.'),
    attempts: Type.Integer(),
    next_attempt_at: orNull(moment('When it is tried again.')),
    answer: orNull(Type.String({ description: 'What the mail server said last.' })),
    created_at: moment('When it was put into the outbox.'),
    sent_at: orNull(moment('When the mail server took it.')),
  },
  strict,
)

const head = {
  id: Type.String({ examples: ['bil_01a1fa172a0277f3983322718874f2ef'] }),
  number: Type.String({ examples: ['2026-0001'] }),
  kind: oneOf(BILL_KINDS, 'A bill, or a credit note.'),
  state: oneOf(BILL_STATES, '`sent`, then `paid` or `void`.'),
  client: orNull(Type.Object({ id: Type.String(), name: Type.String() }, strict)),
  project: orNull(Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)),
  period: Type.Object({ from: Type.String(), to: Type.String() }, strict),
  issued_on: Type.String(),
  due_on: Type.String(),
  currency: Type.String(),
  subtotal: Type.Number(),
  tax: Type.Number(),
  total: Type.Number(),
  entries: Type.Integer(),
  delivery: oneOf(
    ['none', 'queued', 'sent', 'failed'] as const,
    'The worst of the deliveries that were asked for last.',
  ),
  paid: orNull(Type.Object({ on: Type.String(), reference: orNull(Type.String()) }, strict)),
  void: orNull(Type.Object({ at: moment('When.'), reason: Type.String() }, strict)),
  replaces: reference,
  corrects: reference,
  created_at: moment('When it was sent.'),
  created_by: orNull(
    Type.Object({ id: Type.String(), name: Type.String() }, { ...strict, description: 'Null for the command line.' }),
  ),
}

export const BillHead = Type.Object(head, { ...strict, $id: 'BillHead' })
export type BillHead = Static<typeof BillHead>

export const Bill = Type.Object(
  {
    ...head,
    corrected_by: Type.Array(Reference, { description: 'Credit notes that correct it and are not void.' }),
    replaced_by: Type.Array(Reference, { description: 'Bills that were sent in its place.' }),
    deliveries: Type.Array(Delivery),
    document: BillDocument,
  },
  {
    ...strict,
    $id: 'Bill',
    description: '`document` is the bill as it was sent and never changes; the rest is what became of it.',
  },
)
export type Bill = Static<typeof Bill>

export const BillList = listOf(BillHead, 'BillList')

export const BillVoiding = Type.Object(
  {
    reason: text('Why; it stands on the void notice.', 1_000),
    deliver: Type.Optional(Type.Boolean({ description: 'Tell those to whom the bill was sent; true where absent.' })),
  },
  { ...strict, $id: 'BillVoiding' },
)
export type BillVoiding = Static<typeof BillVoiding>

export const BillPayment = Type.Object(
  {
    on: Type.Optional(day('When it was paid; today where absent.')),
    reference: Type.Optional(text('Such as that of the transfer.', 200)),
  },
  { ...strict, $id: 'BillPayment' },
)

export const BillDelivery = Type.Object(
  {
    to: Type.Optional(
      Type.Array(Type.String({ maxLength: 254 }), {
        description: 'E-mail addresses; the client’s where absent.',
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
          { text: text('What it corrects.', 500), amount: amount('What is given back, as a positive amount.') },
          strict,
        ),
        { description: 'Where absent, everything that the bill billed.', minItems: 1, maxItems: EXTRA_LINES_LIMIT },
      ),
    ),
    note: Type.Optional(text('Above the lines.', 4_000)),
  },
  { ...strict, $id: 'CreditNoteRequest' },
)
export type CreditNoteRequest = Static<typeof CreditNoteRequest>
