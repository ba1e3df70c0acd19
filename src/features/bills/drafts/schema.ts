/** Drafts of bills in the API. */
import { type Static, type TUnsafe, Type } from '@sinclair/typebox'
import { timestamp } from '../../../lib/duration.ts'
import { component, integer, listOf, moment, object, orNull, text } from '../../../schema/types.ts'
import { COST_BASES } from '../../../shared/cost-basis.ts'
import type { DraftView } from './store.ts'

/** Short texts without control characters, which may be empty: nobody has finished typing. */
const line = (maxLength: number, description = '') =>
  Type.String({
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    ...(description !== '' && { description }),
  })

/** With line breaks. */
const lines = (maxLength: number) =>
  Type.String({ maxLength, pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$' })

const NUMBER_CHARACTERS = 50
const typed = Type.Unsafe<number | string>({
  ...Type.Union([Type.Number(), line(NUMBER_CHARACTERS)], { description: 'A number, or the text that was typed.' }),
})

const NAME_CHARACTERS = 250
const Choice = orNull(
  object({
    value: line(NAME_CHARACTERS, 'What the API finds it by: its ID, key or name.'),
    label: line(2 * NAME_CHARACTERS, 'What the form shows.'),
    detail: Type.Optional(line(2 * NAME_CHARACTERS)),
  }),
)

const DAY = orNull(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }))
const oneOf = <const T extends string>(...values: T[]) =>
  Type.Union(values.map((value) => Type.Literal(value))) as unknown as TUnsafe<T>

export const BillDraftForm = component(
  'BillDraftForm',
  'The fields of the form of a new bill, as they were typed. They are checked when the bill is previewed or sent.',
  {
    scope: oneOf('client', 'project', 'everything'),
    client: Choice,
    project: Choice,
    span: oneOf('month', 'days'),
    month: DAY,
    days: Type.Unsafe<[string | null, string | null]>(Type.Array(DAY, { minItems: 2, maxItems: 2 })),
    currency: orNull(line(NUMBER_CHARACTERS)),
    exchange_rate: typed,
    group_by: Type.Array(line(NAME_CHARACTERS), { maxItems: 10 }),
    markup: typed,
    tax_name: line(NAME_CHARACTERS),
    tax_percent: typed,
    extra_lines: Type.Array(object({ text: line(500), amount: typed }), { maxItems: 100 }),
    note: lines(10_000),
    purchase_order: line(NAME_CHARACTERS),
    due_days: typed,
    show_cost: Type.Boolean(),
    show_active_time: Type.Optional(Type.Boolean()),
    basis: Type.Optional(oneOf(...COST_BASES)),
    provisional: Type.Optional(Type.Boolean()),
    replaces: line(NAME_CHARACTERS),
    leave_unpriced: Type.Boolean(),
    include_earlier: Type.Optional(Type.Boolean()),
    deliver: oneOf('client', 'others', 'nobody'),
    deliver_to: Type.Array(line(NAME_CHARACTERS), { maxItems: 10 }),
    message: lines(10_000),
  },
)
export type BillDraftForm = Static<typeof BillDraftForm>

export const NewBillDraft = component('NewBillDraft', { form: BillDraftForm })

const revision = integer('Counts the changes.', { minimum: 1 })

export const BillDraftChange = component('BillDraftChange', {
  form: BillDraftForm,
  revision: integer(
    'The revision that is replaced. If somebody has changed the draft since, the request fails with `changed_meanwhile`.',
    { minimum: 1 },
  ),
})
export type BillDraftChange = Static<typeof BillDraftChange>

const Person = object({ id: Type.String(), name: Type.String() })

export const BillDraftBody = component('BillDraft', 'A bill that somebody has begun and not sent.', {
  id: text('Id of the draft (bdr_…).'),
  form: BillDraftForm,
  revision,
  created_at: moment('When it was begun.'),
  created_by: Person,
  updated_at: moment('When it was last changed.'),
  updated_by: Person,
})
export type BillDraftBody = Static<typeof BillDraftBody>

export const BillDraftList = listOf(BillDraftBody, 'BillDraftList', 'Drafts of bills, newest first.')

export function draftBody({ draft, createdBy, updatedBy }: DraftView): BillDraftBody {
  return {
    id: draft.uid,
    form: draft.form as BillDraftForm,
    revision: draft.revision,
    created_at: timestamp(draft.createdAt),
    created_by: { id: createdBy.uid, name: createdBy.name },
    updated_at: timestamp(draft.updatedAt),
    updated_by: { id: updatedBy.uid, name: updatedBy.name },
  }
}
