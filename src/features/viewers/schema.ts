/** API schema of what viewers see. */
import { type Static, Type } from '@sinclair/typebox'
import { SHARED_MONEY, WEEKDAYS } from '../../database/schema/values.ts'
import { timestamp } from '../../lib/duration.ts'
import { conditions, exactlyOne } from '../../schema/conditions.ts'
import {
  amountIn,
  array,
  chosen,
  component,
  day,
  emailAddress,
  flag,
  integer,
  listOf,
  moment,
  money,
  object,
  oneOf,
  orNull,
  text,
} from '../../schema/types.ts'
import { BILL_KINDS, BILL_STATES, type BillHead } from '../bills/schema.ts'
import type { Grant } from '../people/service.ts'
import { BUCKET_WIDTHS } from '../reports/schema.ts'
import { SHARED_DIMENSIONS } from './query.ts'

const MONEY = '`amounts`: what was billed for usage. `cost`: the cost of usage. `none`: tokens and entries only.'

export const GrantBody = component('Grant', 'A client or a project that a viewer sees, and how much of it.', {
  client: orNull(object('With all of its projects.', { id: Type.String(), name: Type.String() })),
  project: orNull(object({ id: Type.String(), key: Type.String(), name: Type.String() })),
  money: oneOf(SHARED_MONEY, MONEY),
  people: flag('Whether reports name the agent managers.'),
  bills: flag('Whether the bills that were sent to the client are shown.'),
  created_at: moment('When it was granted.'),
})
export type GrantBody = Static<typeof GrantBody>

export const GrantList = component('GrantList', 'What a viewer sees: clients first, then projects, by name.', {
  data: Type.Array(GrantBody),
})
export type GrantList = Static<typeof GrantList>

export const NewGrant = component(
  'NewGrant',
  'What to grant to a viewer.',
  {
    client: Type.Optional(text('Id (cli_…) or name of a client, with all of its projects. Either this or `project`.')),
    project: Type.Optional(text('Id (prj_…), key, name or alias of a project.')),
    money: Type.Optional(chosen(SHARED_MONEY, `${MONEY} Default: \`none\`.`)),
    people: Type.Optional(flag('Whether reports name the agent managers. Default: false.')),
    bills: Type.Optional(
      flag(
        'Whether the bills that were sent to the client are shown, as they were sent. Only for a client with `amounts`. Default: false.',
      ),
    ),
  },
  {
    ...conditions(
      exactlyOne('client', 'project', {
        pointer: '',
        code: 'required',
        message: 'must have either client or project',
      }),
    ),
  },
)
export type NewGrant = Static<typeof NewGrant>

export function grantBody({ client, project, money, showsPeople, showsBills, createdAt }: Grant): GrantBody {
  return {
    client: client && { id: client.uid, name: client.name },
    project: project && { id: project.uid, key: project.key, name: project.name },
    money,
    people: showsPeople,
    bills: showsBills,
    created_at: timestamp(createdAt),
  }
}

export const Shared = component('Shared', 'What is shared with a viewer.', {
  grants: array('Clients and projects that you see, and how much of each.', GrantBody),
  shows_people: flag('Whether some reports can be grouped by person.'),
  shows_bills: flag('Whether bills of some clients are shown.'),
  time_zone: text('Time zone of the organization.', { examples: ['Europe/Berlin'] }),
  week_start: oneOf(WEEKDAYS, 'First day of weeks.'),
  locale: orNull(text('BCP 47 tag of the organization’s locale; null if none is set.', { examples: ['de-DE'] })),
  currency: text('ISO 4217 code of the default bill currency.'),
  contact: object('Whom to ask: the organization, with its e-mail address if it has one.', {
    name: Type.String(),
    email: orNull(emailAddress()),
  }),
})
export type Shared = Static<typeof Shared>

const whole = (description: string) => integer(description, { minimum: 0 })

const figures = {
  entries: whole('Number of token entries.'),
  tokens: object({
    input: whole('Input tokens that were neither read from nor written to a cache.'),
    output: whole('Output tokens, including reasoning.'),
    cache_read: whole('Tokens read from the cache.'),
    cache_write: whole('Tokens written to the cache.'),
    cache_write_1h: whole('Tokens written to the cache for one hour.'),
    total: whole('Sum of the five counts.'),
  }),
  cost: orNull(money('Cost of the entries whose cost you see; null if there are none.')),
  cost_entries: whole('Number of entries that `cost` covers.'),
  amounts: array(
    'What was billed for the entries whose amounts you see, before tax, in the currencies of their bills. Empty if none of them is on a bill that you owe or have paid, and by model.',
    object({ currency: Type.String(), amount: Type.Number() }),
  ),
  amount_entries: whole('Number of entries that `amounts` cover.'),
}

const SharedUsageFigures = object(figures)
export type SharedUsageFigures = Static<typeof SharedUsageFigures>

const Named = object({ id: Type.String(), name: Type.String() })

const SharedUsageResult = component(
  'SharedUsageResult',
  'One group of entries, with the dimensions in `group_by`: null for none, and for what is not shared.',
  {
    client: Type.Optional(orNull(Named)),
    project: Type.Optional(orNull(object({ id: Type.String(), key: Type.String(), name: Type.String() }))),
    ticket: Type.Optional(orNull(object({ id: Type.String(), key: Type.String() }))),
    model: Type.Optional(orNull(Type.String())),
    agent_manager: Type.Optional(orNull(Named)),
    ...figures,
  },
)
export type SharedUsageResult = Static<typeof SharedUsageResult>

export const SharedUsage = component('SharedUsage', 'The usage that is shared with a viewer.', {
  starting_at: moment('Start of the period, inclusive.'),
  ending_at: moment('End of the period, exclusive.'),
  time_zone: text('Time zone of dates and buckets.', { examples: ['Europe/Berlin'] }),
  currency: Type.Literal('USD'),
  bucket_width: oneOf(BUCKET_WIDTHS, 'As requested.'),
  group_by: Type.Array(oneOf(SHARED_DIMENSIONS)),
  totals: SharedUsageFigures,
  data: array(
    'In chronological order. Buckets without entries are omitted unless `fill_gaps` is true.',
    object({
      starting_at: moment('Start of the bucket, inclusive.'),
      ending_at: moment('End of the bucket, exclusive.'),
      results: array('The groups, most tokens first.', SharedUsageResult),
    }),
  ),
})
export type SharedUsage = Static<typeof SharedUsage>

const amount = (description: string) => amountIn('currency', `${description} In the bill’s currency.`)

export const SharedBill = component('SharedBill', 'A bill that was sent to a client, as a viewer sees it.', {
  id: Type.String(),
  number: Type.String(),
  kind: oneOf(BILL_KINDS, 'A credit note corrects a paid bill with negative lines.'),
  state: oneOf(BILL_STATES, 'Nothing is owed for a void bill.'),
  client: orNull(Named),
  project: orNull(object({ id: Type.String(), key: Type.String(), name: Type.String() })),
  period: object({ from: day('First day.'), to: day('Last day.') }),
  issued_on: day('Date on which the bill was sent.'),
  due_on: day('Date on which payment is due.'),
  currency: Type.String(),
  subtotal: amount('Sum of all lines.'),
  tax: amount('Tax.'),
  total: amount('Subtotal plus tax.'),
  amount_paid: amount('Payments so far.'),
  balance: amount('What is still open.'),
  overdue: flag('Whether the balance was due before today.'),
})
export type SharedBill = Static<typeof SharedBill>

export const SharedBillList = listOf(SharedBill, 'SharedBillList', 'Bills, newest first.')

/** What is between the organization and its team stays out: delivery, people, notes about payments, reasons. */
export function sharedBillBody(head: BillHead): SharedBill {
  const { id, number, kind, state, client, project, period, issued_on, due_on, currency } = head
  const { subtotal, tax, total, amount_paid, balance, overdue } = head
  return {
    id,
    number,
    kind,
    state,
    client,
    project,
    period,
    issued_on,
    due_on,
    currency,
    subtotal,
    tax,
    total,
    amount_paid,
    balance,
    overdue,
  }
}
