/** The document of a bill in the API: what the client has, and what was left out. */
import { type Static, Type } from '@sinclair/typebox'
import {
  amountIn,
  component,
  day,
  emailAddress,
  flag,
  integer,
  money,
  number,
  object,
  oneOf,
  orNull,
  text,
} from '../../schema/types.ts'
import { COST_BASES } from '../../shared/cost-basis.ts'

export const percent = (description: string) =>
  number(`${description} In percent, with at most 4 decimals.`, { minimum: -100, maximum: 10_000 })
export const amount = (description: string) => amountIn('currency', `${description} In the bill’s currency.`)

export const BILL_KINDS = ['bill', 'credit_note'] as const

const Key = orNull(
  Type.Union([
    Type.String(),
    object({
      id: Type.String(),
      key: Type.Optional(Type.String()),
      name: orNull(Type.String()),
    }),
  ]),
)

const Tokens = object({
  input: Type.Integer(),
  output: Type.Integer(),
  cache_read: Type.Integer(),
  cache_write: Type.Integer(),
  cache_write_1h: Type.Integer(),
  total: Type.Integer(),
})

const BillLine = object({
  line: integer('Line number, starting at 1 and counting across all sections.'),
  keys: Type.Record(Type.String(), Key, { description: 'Values of the grouping; null if the entries have none.' }),
  entries: Type.Integer(),
  sessions: Type.Integer(),
  tokens: Tokens,
  active_seconds: Type.Optional(
    orNull(
      number(
        'How long the agents worked, in seconds, as far as it is known; null if it is of none of the entries. Only with `show_active_time`.',
      ),
    ),
  ),
  untimed_entries: Type.Optional(integer('Entries whose active time is unknown. Only with `show_active_time`.')),
  cost: money('Cost of its entries, on the basis of the bill.'),
  list_value: money('List value of the entries.'),
  markup: orNull(percent('Null if its entries have different markups.')),
  amount: amount('Billed amount.'),
})
export type BillLine = Static<typeof BillLine>

const BillSection = object({ title: orNull(text('Null for usage within the period.')), lines: Type.Array(BillLine) })
export type BillSection = Static<typeof BillSection>

export const LeftOut = object({
  entries: Type.Integer(),
  unpriced_entries: Type.Optional(
    integer('The number of these whose cost is unknown. Absent in bills of earlier versions.'),
  ),
  cost: money('Cost of the priced entries.'),
  at_least: flag('True if counting stopped early and there are more.'),
})
export type LeftOut = Static<typeof LeftOut>

const LEFT_OUT_REASONS = {
  rejected: 'Rejected.',
  held: 'Held as possible duplicates.',
  unpriced:
    'Amount unknown on the basis of the bill. `cost` is then the reported cost, or else the list value, of those that have one.',
  not_approved: 'Not approved, if the organization requires approval.',
  on_sheets: 'On token sheets that have not been approved.',
  not_billable: 'In non-billable projects.',
  earlier: 'From before the period, and may still be billed: approved or not, held, or on token sheets.',
  unattributed: 'Outside the scope: in the period, without a project or ticket, and may still be billed.',
  without_client: 'Outside the scope: in the period, in projects without a client, and may still be billed.',
  without_project: 'Outside the scope: in the period, on tickets without a project, and may still be billed.',
} as const
export type LeftOutReason = keyof typeof LEFT_OUT_REASONS

const reasons = Object.fromEntries(
  Object.entries(LEFT_OUT_REASONS).map(([reason, description]) => [reason, { ...LeftOut, description }]),
) as Record<LeftOutReason, typeof LeftOut>

const leftOut = {
  ...reasons,
  /** Bills of earlier versions have no held entries. */
  held: Type.Optional(reasons.held),
  corrections: Type.Optional({
    ...LeftOut,
    description:
      'Corrections of shares of the fees of plans, up to the end of the period, which the basis of the bill counts 0: a bill by allocated cost can still settle them. Absent without any.',
  }),
}

const Party = object({
  name: Type.String(),
  address: orNull(Type.String()),
  tax_id: orNull(Type.String()),
  email: orNull(emailAddress()),
})

export const Reference = object({ id: Type.String(), number: Type.String() })
export const reference = orNull(Reference)

export const basis = (description: string) => oneOf(COST_BASES, description)
export const BASIS =
  '`cost`: reported cost, or else list value. `list`: list value. `marginal`: what was paid in addition to the fees of plans. `allocated`: marginal cost, and shares of the fees of plans.'

export const BillDocument = component('BillDocument', {
  kind: oneOf(BILL_KINDS, 'A credit note corrects a paid bill with negative lines.'),
  number: orNull(text('Null in a preview.')),
  issued_on: day('Date on which the bill was sent.'),
  due_on: day('Date on which payment is due.'),
  time_zone: text('Time zone of the dates.'),
  locale: Type.Optional(
    text('BCP 47 tag of the locale in which the documents are written. Absent for ISO 8601 days and English numbers.'),
  ),
  issuer: Party,
  recipient: orNull(Party),
  scope: object('If both are null, the bill covers everything.', {
    client: orNull(object({ id: Type.String(), name: Type.String() })),
    project: orNull(object({ id: Type.String(), key: Type.String(), name: Type.String() })),
  }),
  period: object({ from: day('First day.'), to: day('Last day.') }),
  purchase_order: orNull(Type.String()),
  note: orNull(Type.String()),
  footer: orNull(Type.String()),
  replaces: reference,
  corrects: reference,
  basis: Type.Optional(
    basis(`By which amount entries are billed. ${BASIS} Absent in bills of earlier versions: \`cost\`.`),
  ),
  provisional: Type.Optional(
    flag('True if it contains shares of periods of plans that were not closed; otherwise absent. The bill keeps them.'),
  ),
  currency: Type.String(),
  minor_digits: integer('Number of decimals in amounts.'),
  exchange_rate: number('Units of the bill’s currency per US dollar.'),
  group_by: Type.Array(Type.String()),
  show_cost: Type.Boolean(),
  show_active_time: Type.Optional(flag('Absent if active time is not shown.')),
  sections: Type.Array(BillSection),
  extra_lines: Type.Array(object({ text: Type.String(), amount: amountIn('currency') })),
  entries: integer('Number of billed entries.'),
  cost: money('Cost of the billed entries, on the basis of the bill.'),
  list_value: money('List value of the entries.'),
  subtotal: amount('Sum of all lines.'),
  tax: orNull(object({ name: Type.String(), percent: Type.Number(), amount: amountIn('currency') })),
  total: amount('Subtotal plus tax.'),
  left_out: object('Entries that are excluded, by reason. Not shown on documents.', leftOut),
  unused_seats: Type.Optional(
    object(
      'Seats that nobody used in periods of plans that begin in the period, which no entry pays for. Only in bills of everything by allocated cost. Not shown on documents.',
      { seats: Type.Integer(), cost: money('Their part of the fees.') },
    ),
  ),
})
export type BillDocument = Static<typeof BillDocument>
