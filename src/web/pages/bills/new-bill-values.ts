/** The form values of a new bill, and the API request made from them. */
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { addressOf } from '../../address.ts'
import { addDays, addMonths, dayOf, firstOfMonth } from '../../format/moments.ts'
import { hasUnreadable } from '../../format/read-numbers.ts'
import { before, ownPeriod, type Period } from '../../parts/period.ts'
import type { Choice } from '../../parts/pickers.tsx'
import type { BillRequest } from './bill-body.ts'

export interface BillValues {
  scope: 'client' | 'project' | 'everything'
  client: Choice | null
  project: Choice | null
  span: 'month' | 'days'
  /** The first day of the month. */
  month: string | null
  days: [string | null, string | null]
  currency: string | null
  exchange_rate: number | string
  group_by: string[]
  markup: number | string
  tax_name: string
  tax_percent: number | string
  extra_lines: { text: string; amount: number | string }[]
  note: string
  purchase_order: string
  due_days: number | string
  show_cost: boolean
  show_active_time: boolean
  basis: CostBasis
  /** Whether shares of periods that are not closed are billed: false until the API asks for a decision. */
  provisional: boolean
  replaces: string
  /** Undefined until the API asks for a decision. */
  leave_unpriced: boolean
  include_earlier: boolean | undefined
  deliver: 'client' | 'others' | 'nobody'
  deliver_to: string[]
  message: string
}

interface Given {
  client?: string | undefined
  project?: string | undefined
  from?: string | undefined
  to?: string | undefined
  replaces?: string | undefined
}

const chosen = (name: string | undefined): Choice | null => (name === undefined ? null : { value: name, label: name })

/** The initial values: a client's bill for last month, unless the URL sets others. */
export function valuesOf(
  { client, project, from, to, replaces }: Given,
  { timeZone, basis }: { timeZone: string; basis: CostBasis },
  now = new Date(),
): BillValues {
  return {
    scope: project === undefined ? 'client' : 'project',
    client: chosen(client),
    project: chosen(project),
    span: from && to ? 'days' : 'month',
    month: addMonths(firstOfMonth(dayOf(now, timeZone)), -1),
    days: [from ?? null, to ?? null],
    currency: null,
    exchange_rate: '',
    group_by: ['project', 'ticket'],
    markup: '',
    tax_name: '',
    tax_percent: '',
    extra_lines: [],
    note: '',
    purchase_order: '',
    due_days: '',
    show_cost: false,
    show_active_time: false,
    basis,
    provisional: false,
    replaces: replaces ?? '',
    leave_unpriced: false,
    include_earlier: undefined,
    deliver: 'client',
    deliver_to: [],
    message: '',
  }
}

/** By the bases whose amounts may change until the period of their plan is closed. */
const hasShares = (basis: CostBasis) => basis === 'marginal' || basis === 'allocated'

const numberOf = (typed: number | string): number | undefined => (typed === '' ? undefined : Number(typed))
const textOf = (typed: string): string | undefined => (typed.trim() === '' ? undefined : typed.trim())

/** The API request; undefined until a scope and a period are chosen, and while a number can't be read. */
export function requestOf(values: BillValues): BillRequest | undefined {
  const scope = scopeOf(values)
  const span = spanOf(values)
  if (!scope || !span || hasUnreadable(values)) return undefined
  const percent = numberOf(values.tax_percent)
  return withoutBlanks({
    ...scope,
    ...span,
    currency: values.currency ?? undefined,
    exchange_rate: numberOf(values.exchange_rate),
    group_by: values.group_by,
    markup: numberOf(values.markup),
    tax: percent === undefined ? undefined : withoutBlanks({ name: textOf(values.tax_name), percent }),
    extra_lines: linesOf(values),
    note: textOf(values.note),
    purchase_order: textOf(values.purchase_order),
    due_days: numberOf(values.due_days),
    show_cost: values.show_cost || undefined,
    show_active_time: values.show_active_time || undefined,
    basis: values.basis === 'cost' ? undefined : values.basis,
    provisional: (values.provisional && hasShares(values.basis)) || undefined,
    replaces: textOf(values.replaces),
    leave_unpriced: values.leave_unpriced || undefined,
    include_earlier: values.include_earlier,
  })
}

function scopeOf({ scope, client, project }: BillValues): Pick<BillRequest, 'client' | 'project'> | undefined {
  if (scope === 'everything') return {}
  if (scope === 'client') return client ? { client: client.value } : undefined
  return project ? { project: project.value } : undefined
}

function spanOf({ span, month, days }: BillValues): Pick<BillRequest, 'month' | 'period'> | undefined {
  if (span === 'month') return month ? { month: month.slice(0, 7) } : undefined
  const [from, to] = days
  return from && to ? { period: { from, to } } : undefined
}

/** Incomplete lines are left out; the form says so. */
function linesOf({ extra_lines }: BillValues): BillRequest['extra_lines'] {
  const lines = extra_lines.flatMap(({ text, amount }) =>
    text.trim() === '' || amount === '' ? [] : [{ text: text.trim(), amount: Number(amount) }],
  )
  return lines.length === 0 ? undefined : lines
}

/** The recipients for the API: absent means the client, an empty list means no one. */
export function deliveryOf({ deliver, deliver_to, message }: BillValues) {
  return withoutBlanks({
    deliver_to: deliver === 'client' ? undefined : deliver === 'nobody' ? [] : deliver_to,
    message: deliver === 'nobody' ? undefined : textOf(message),
  })
}

type EntryFilters = Parameters<typeof addressOf>[1]

/** A link to entries in the scope and period of the bill. */
export const entriesIn = (values: BillValues, filters: EntryFilters): string =>
  entriesOf(values, daysOf(values), filters)

/** A link to entries in the scope of the bill from before its period. */
export const entriesBefore = (values: BillValues, filters: EntryFilters): string =>
  entriesOf(values, before(daysOf(values).from), filters)

function entriesOf(values: BillValues, days: Period, filters: EntryFilters): string {
  return addressOf('/entries', { ...scopeOf(values), period: ownPeriod(days), ...filters })
}

/** The days of the period, once it is chosen. */
function daysOf(values: BillValues): Period {
  const { month, period } = spanOf(values)!
  const first = `${month}-01`
  return period ?? { from: first, to: addDays(addMonths(first, 1), -1) }
}

/** Drops undefined members, which the API does not treat as absent. */
function withoutBlanks<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}
