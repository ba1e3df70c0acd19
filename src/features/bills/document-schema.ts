/** The document of a bill in the API: what the client has, and what was left out. */
import { type Static, Type } from '@sinclair/typebox'
import { day, emailAddress, oneOf, orNull, strict } from '../../schema/types.ts'

export const percent = (description: string) =>
  Type.Number({ description: `${description} In percent, with at most 4 decimals.`, minimum: -100, maximum: 10_000 })
export const amount = (description: string) => Type.Number({ description: `${description} In the bill’s currency.` })
const dollars = (description: string) => Type.Number({ description: `${description} In US dollars.` })

export const BILL_KINDS = ['bill', 'credit_note'] as const

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
    line: Type.Integer({ description: 'Line number, starting at 1 and counting across all sections.' }),
    keys: Type.Record(Type.String(), Key, { description: 'Values of the grouping; null if the entries have none.' }),
    entries: Type.Integer(),
    sessions: Type.Integer(),
    tokens: Tokens,
    active_seconds: Type.Optional(
      orNull(
        Type.Number({
          description:
            'How long the agents worked, in seconds, as far as it is known; null if it is of none of the entries. Only with `show_active_time`.',
        }),
      ),
    ),
    untimed_entries: Type.Optional(
      Type.Integer({ description: 'Entries whose active time is unknown. Only with `show_active_time`.' }),
    ),
    cost: dollars('Cost of its entries.'),
    list_value: dollars('List value of the entries.'),
    markup: orNull(percent('Null if its entries have different markups.')),
    amount: amount('Billed amount.'),
  },
  strict,
)
export type BillLine = Static<typeof BillLine>

const BillSection = Type.Object(
  { title: orNull(Type.String({ description: 'Null for usage within the period.' })), lines: Type.Array(BillLine) },
  strict,
)
export type BillSection = Static<typeof BillSection>

export const LeftOut = Type.Object(
  {
    entries: Type.Integer(),
    unpriced_entries: Type.Optional(
      Type.Integer({ description: 'The number of these whose cost is unknown. Absent in bills of earlier versions.' }),
    ),
    cost: dollars('Cost of the priced entries.'),
    at_least: Type.Boolean({ description: 'True if counting stopped early and there are more.' }),
  },
  strict,
)
export type LeftOut = Static<typeof LeftOut>

const LEFT_OUT_REASONS = {
  rejected: 'Rejected.',
  held: 'Held as possible duplicates.',
  unpriced: 'Cost unknown.',
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

/** Bills of earlier versions have no held entries. */
const leftOut = { ...reasons, held: Type.Optional(reasons.held) }

const Party = Type.Object(
  {
    name: Type.String(),
    address: orNull(Type.String()),
    tax_id: orNull(Type.String()),
    email: orNull(emailAddress()),
  },
  strict,
)

export const Reference = Type.Object({ id: Type.String(), number: Type.String() }, strict)
export const reference = orNull(Reference)

export const BillDocument = Type.Object(
  {
    kind: oneOf(BILL_KINDS, 'A credit note corrects a paid bill with negative lines.'),
    number: orNull(Type.String({ description: 'Null in a preview.' })),
    issued_on: day('Date on which the bill was sent.'),
    due_on: day('Date on which payment is due.'),
    time_zone: Type.String({ description: 'Time zone of the dates.' }),
    issuer: Party,
    recipient: orNull(Party),
    scope: Type.Object(
      {
        client: orNull(Type.Object({ id: Type.String(), name: Type.String() }, strict)),
        project: orNull(Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)),
      },
      { ...strict, description: 'If both are null, the bill covers everything.' },
    ),
    period: Type.Object({ from: day('First day.'), to: day('Last day.') }, strict),
    purchase_order: orNull(Type.String()),
    note: orNull(Type.String()),
    footer: orNull(Type.String()),
    replaces: reference,
    corrects: reference,
    currency: Type.String(),
    minor_digits: Type.Integer({ description: 'Number of decimals in amounts.' }),
    exchange_rate: Type.Number({ description: 'Units of the bill’s currency per US dollar.' }),
    group_by: Type.Array(Type.String()),
    show_cost: Type.Boolean(),
    show_active_time: Type.Optional(Type.Boolean({ description: 'Absent if active time is not shown.' })),
    sections: Type.Array(BillSection),
    extra_lines: Type.Array(Type.Object({ text: Type.String(), amount: Type.Number() }, strict)),
    entries: Type.Integer({ description: 'Number of billed entries.' }),
    cost: dollars('Cost of the billed entries.'),
    list_value: dollars('List value of the entries.'),
    subtotal: amount('Sum of all lines.'),
    tax: orNull(Type.Object({ name: Type.String(), percent: Type.Number(), amount: Type.Number() }, strict)),
    total: amount('Subtotal plus tax.'),
    left_out: Type.Object(leftOut, {
      ...strict,
      description: 'Entries that are excluded, by reason. Not shown on documents.',
    }),
  },
  { ...strict, $id: 'BillDocument' },
)
export type BillDocument = Static<typeof BillDocument>
