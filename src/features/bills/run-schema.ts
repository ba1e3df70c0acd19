/** Billing runs in the API. */
import { type Static, Type } from '@sinclair/typebox'
import { array, component, day, flag, integer, money, object, oneOf, orNull, text } from '../../schema/types.ts'
import { amount, basis, LeftOut } from './document-schema.ts'
import { RUN_CHECKS } from './run-checks.ts'
import { BillRequest, LastBillBody, RememberedRate } from './schema.ts'

const BillRunCheck = object({
  check: oneOf(
    [...RUN_CHECKS, 'earlier'] as const,
    '`unattributed`: without project and ticket. `without_client`: in billable projects without a client. `without_project`: on tickets without a project. Of the others, `unpriced`: cost unknown; `held`: possible duplicates; `not_approved`: submitted, which is only a notice unless bills require approval; `on_sheets`: on token sheets that are not approved. `rejected`: only a notice. `earlier`: from before the month, and may still be billed.',
  ),
  entries: Type.Integer(),
  unpriced_entries: integer('The number of these whose cost is unknown.'),
  cost: money('Cost of the others.'),
  at_least: flag('True if counting stopped early and there are more.'),
  list: text('Path that lists exactly these entries.'),
})
export type BillRunCheck = Static<typeof BillRunCheck>

const BLOCKS = ['earlier_entries', 'unpriced_entries', 'period_not_closed', 'exchange_rate', 'bill_too_large'] as const
export type BillRunBlock = (typeof BLOCKS)[number]

const OWN_REASONS = ['rejected', 'held', 'unpriced', 'not_approved', 'on_sheets', 'not_billable', 'earlier'] as const
const ownLeftOut = Object.fromEntries(OWN_REASONS.map((reason) => [reason, LeftOut])) as Record<
  (typeof OWN_REASONS)[number],
  typeof LeftOut
>

const BillRunRow = object({
  client: orNull(
    object('Null for a project without a client.', {
      id: Type.String(),
      name: Type.String(),
      email: orNull(Type.String()),
    }),
  ),
  project: orNull(object({ id: Type.String(), key: Type.String(), name: Type.String() })),
  state: oneOf(
    ['ready', 'blocked', 'billed', 'empty'] as const,
    '`ready` to send, `blocked` for the reasons in `blocked_by`, `billed` if nothing is left of the month, `empty` if there was nothing to bill.',
  ),
  blocked_by: Type.Array(
    oneOf(
      BLOCKS,
      'Decide with `include_earlier`, `leave_unpriced`, `provisional` or `rate`; close periods of plans; a bill that is too large is sent by project.',
    ),
  ),
  request: component('BillRunRequest', 'For a preview or a bill.', BillRequest.properties),
  digest: orNull(text('As of a preview of `request`. Null unless the row is ready.')),
  idempotency_key: orNull(
    text(
      'Idempotency-Key for sending `request` with `digest`: the same however often the run is read, until there is a further bill.',
    ),
  ),
  entries: integer('Number of entries that the bill would contain.'),
  cost: money('Cost of these entries.'),
  currency: Type.String(),
  basis: basis(
    'By which amount its entries are billed: that of the last bill, or else of the organization, unless another one is asked for.',
  ),
  provisional: flag('Whether it would contain shares of periods of plans that are not closed.'),
  subtotal: orNull(amount('Null while the exchange rate is unknown.')),
  tax: orNull(amount('Null while the exchange rate is unknown.')),
  total: orNull(amount('Null while the exchange rate is unknown.')),
  left_out: object('Excluded entries of its scope, as in a preview.', {
    ...ownLeftOut,
    corrections: Type.Optional(LeftOut),
  }),
  exchange_rate: RememberedRate,
  bills: Type.Array(
    object('Bills whose period shares days with the month, without void ones.', {
      id: Type.String(),
      number: Type.String(),
      currency: Type.String(),
      total: Type.Number(),
    }),
  ),
  last_bill: LastBillBody,
})
export type BillRunRow = Static<typeof BillRunRow>

export const BillRun = component('BillRun', {
  month: Type.String(),
  period: object({ from: day('First day.'), to: day('Last day.') }),
  period_is_over: flag('False if more may be recorded for the month.'),
  approval_required: flag('Whether only approved entries are billed.'),
  checks: array('What is left to do, in the order to work through it.', BillRunCheck),
  data: array('Each client, and each billable project without a client that has entries.', BillRunRow),
})
export type BillRun = Static<typeof BillRun>
