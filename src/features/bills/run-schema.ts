/** Billing runs in the API. */
import { type Static, Type } from '@sinclair/typebox'
import { day, oneOf, orNull, strict } from '../../schema/types.ts'
import { amount, LeftOut } from './document-schema.ts'
import { RUN_CHECKS } from './run-checks.ts'
import { BillRequest, LastBillBody, RememberedRate } from './schema.ts'

const dollars = (description: string) => Type.Number({ description: `${description} In US dollars.` })

const BillRunCheck = Type.Object(
  {
    check: oneOf(
      [...RUN_CHECKS, 'earlier'] as const,
      '`unattributed`: without project and ticket. `without_client`: in billable projects without a client. `without_project`: on tickets without a project. Of the others, `unpriced`: cost unknown; `held`: possible duplicates; `not_approved`: submitted, which is only a notice unless bills require approval; `on_sheets`: on token sheets that are not approved. `rejected`: only a notice. `earlier`: from before the month, and may still be billed.',
    ),
    entries: Type.Integer(),
    unpriced_entries: Type.Integer({ description: 'The number of these whose cost is unknown.' }),
    cost: dollars('Cost of the others.'),
    at_least: Type.Boolean({ description: 'True if counting stopped early and there are more.' }),
    list: Type.String({ description: 'Path that lists exactly these entries.' }),
  },
  strict,
)
export type BillRunCheck = Static<typeof BillRunCheck>

const BLOCKS = ['earlier_entries', 'unpriced_entries', 'exchange_rate', 'bill_too_large'] as const
export type BillRunBlock = (typeof BLOCKS)[number]

const OWN_REASONS = ['rejected', 'held', 'unpriced', 'not_approved', 'on_sheets', 'not_billable', 'earlier'] as const
const ownLeftOut = Object.fromEntries(OWN_REASONS.map((reason) => [reason, LeftOut])) as Record<
  (typeof OWN_REASONS)[number],
  typeof LeftOut
>

const BillRunRow = Type.Object(
  {
    client: orNull(
      Type.Object(
        { id: Type.String(), name: Type.String(), email: orNull(Type.String()) },
        { ...strict, description: 'Null for a project without a client.' },
      ),
    ),
    project: orNull(Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)),
    state: oneOf(
      ['ready', 'blocked', 'billed', 'empty'] as const,
      '`ready` to send, `blocked` for the reasons in `blocked_by`, `billed` if nothing is left of the month, `empty` if there was nothing to bill.',
    ),
    blocked_by: Type.Array(
      oneOf(
        BLOCKS,
        'Decide with `include_earlier`, `leave_unpriced` or `rate`; a bill that is too large is sent by project.',
      ),
    ),
    request: Type.Object(BillRequest.properties, {
      ...strict,
      $id: 'BillRunRequest',
      description: 'For a preview or a bill.',
    }),
    digest: orNull(Type.String({ description: 'As of a preview of `request`. Null unless the row is ready.' })),
    idempotency_key: orNull(
      Type.String({
        description:
          'Idempotency-Key for sending `request` with `digest`: the same however often the run is read, until there is a further bill.',
      }),
    ),
    entries: Type.Integer({ description: 'Number of entries that the bill would contain.' }),
    cost: dollars('Cost of these entries.'),
    currency: Type.String(),
    subtotal: orNull(amount('Null while the exchange rate is unknown.')),
    tax: orNull(amount('Null while the exchange rate is unknown.')),
    total: orNull(amount('Null while the exchange rate is unknown.')),
    left_out: Type.Object(ownLeftOut, { ...strict, description: 'Excluded entries of its scope, as in a preview.' }),
    exchange_rate: RememberedRate,
    bills: Type.Array(
      Type.Object(
        { id: Type.String(), number: Type.String(), currency: Type.String(), total: Type.Number() },
        { ...strict, description: 'Bills whose period shares days with the month, without void ones.' },
      ),
    ),
    last_bill: LastBillBody,
  },
  strict,
)
export type BillRunRow = Static<typeof BillRunRow>

export const BillRun = Type.Object(
  {
    month: Type.String(),
    period: Type.Object({ from: day('First day.'), to: day('Last day.') }, strict),
    period_is_over: Type.Boolean({ description: 'False if more may be recorded for the month.' }),
    approval_required: Type.Boolean({ description: 'Whether only approved entries are billed.' }),
    checks: Type.Array(BillRunCheck, { description: 'What is left to do, in the order to work through it.' }),
    data: Type.Array(BillRunRow, {
      description: 'Each client, and each billable project without a client that has entries.',
    }),
  },
  { ...strict, $id: 'BillRun' },
)
export type BillRun = Static<typeof BillRun>
