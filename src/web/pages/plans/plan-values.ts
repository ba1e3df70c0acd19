/** Conversion of plans between form values and API requests. Pure. */
import { type ConditionRow, conditionOf, rowOf } from '../../parts/condition.ts'
import type { Choice } from '../../parts/pickers.tsx'
import type { CommonPlan, Plan, Terms } from './plan.ts'

export interface PersonRow {
  person: Choice | null
  from: string | null
  to: string | null
}

export interface PlanValues {
  name: string
  vendor: string
  product: string
  people: PersonRow[]
  vendor_codes: string[]
  note: string
  /** The first day of the terms. */
  from: string | null
  period: Terms['period']
  /** Empty strings if nothing is typed. */
  fee: number | string
  currency: string
  exchange_rate: number | string
  seats: number | string
  /** What it covers. */
  rows: ConditionRow[]
  allowance: number | string
  allowance_unit: NonNullable<Terms['allowance_unit']>
  overage_price: number | string
  pooled: boolean
  weight: Terms['weight']
  source_url: string
  source_day: string | null
  /** Of a period that is cut; empty until the server asks. */
  prorate: '' | 'yes' | 'no'
}

export const EMPTY_PLAN: PlanValues = {
  name: '',
  vendor: '',
  product: '',
  people: [],
  vendor_codes: [],
  note: '',
  from: null,
  period: 'month',
  fee: '',
  currency: 'USD',
  exchange_rate: '',
  seats: 1,
  rows: [],
  allowance: '',
  allowance_unit: 'usd',
  overage_price: '',
  pooled: false,
  weight: 'list_value',
  source_url: '',
  source_day: null,
  prorate: '',
}

const termValuesOf = (terms: Omit<Terms, 'from' | 'prorate'>) => ({
  period: terms.period,
  fee: terms.fee,
  currency: terms.currency,
  exchange_rate: terms.exchange_rate ?? '',
  seats: terms.seats,
  rows: terms.covers.map(rowOf),
  allowance: terms.allowance ?? '',
  allowance_unit: terms.allowance_unit ?? ('usd' as const),
  overage_price: terms.overage_price ?? '',
  pooled: terms.pooled,
  weight: terms.weight,
  source_url: terms.source_url ?? '',
  source_day: terms.source_day,
})

/** What a new plan takes from a common one. */
export const commonValuesOf = ({ vendor, product, vendor_codes, ...terms }: CommonPlan): Partial<PlanValues> => ({
  vendor,
  product,
  vendor_codes,
  ...termValuesOf(terms),
})

/** @param from the day from which its terms change, and whose terms the form begins with */
export function valuesOf(plan: Plan, from: string | null): PlanValues {
  const terms = plan.versions.find((version) => from !== null && version.from <= from) ?? plan.versions.at(-1)!
  return {
    name: plan.name,
    vendor: plan.vendor,
    product: plan.product,
    people: plan.people.map(({ id, name, from, to }) => ({ person: { value: id, label: name }, from, to })),
    vendor_codes: plan.vendor_codes,
    note: plan.note ?? '',
    ...termValuesOf(terms),
    from,
    prorate: '',
  }
}

const textOrNull = (text: string): string | null => text.trim() || null
const numberOrNull = (value: number | string): number | null => (value === '' ? null : Number(value))

const detailsOf = ({ name, vendor, product, people, vendor_codes, note }: PlanValues) => ({
  name: name.trim(),
  vendor: vendor.trim(),
  product: product.trim(),
  people: people.map(({ person, from, to }) => ({ person: person?.value ?? '', from, to })),
  vendor_codes,
  note: textOrNull(note),
})

/** Only what differs: who uses the plan says whether it is that of one person. */
export function detailsChangeOf(values: PlanValues, plan: Plan) {
  const before: Record<string, unknown> = detailsOf(valuesOf(plan, null))
  const after = detailsOf(values)
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  ) as Partial<typeof after>
}

export function termsOf(values: PlanValues) {
  const allowance = numberOrNull(values.allowance)
  return {
    from: values.from ?? '',
    period: values.period,
    fee: Number(values.fee),
    currency: values.currency,
    exchange_rate: values.currency === 'USD' ? null : numberOrNull(values.exchange_rate),
    seats: Number(values.seats),
    covers: values.rows.map(conditionOf),
    allowance,
    allowance_unit: allowance === null ? null : values.allowance_unit,
    overage_price: allowance === null ? null : numberOrNull(values.overage_price),
    pooled: values.pooled,
    weight: values.weight,
    source_url: textOrNull(values.source_url),
    source_day: values.source_day,
  }
}

export const prorateOf = ({ prorate }: Pick<PlanValues, 'prorate'>) =>
  prorate === '' ? {} : { prorate: prorate === 'yes' }

/** The request that adds a plan. Without a name, the server calls it like its product. */
export function newPlanOf(values: PlanValues) {
  const { name, ...details } = detailsOf(values)
  return { ...(name && { name }), ...details, ...termsOf(values) }
}

/** The form's field of each pointer that is not its own name. */
export function issueFieldsOf({ people, rows }: PlanValues): Record<string, string> {
  return {
    ...Object.fromEntries(
      people.flatMap((_, at) => [
        [`/people/${at}/from`, `people.${at}.from`],
        [`/people/${at}/to`, `people.${at}.to`],
      ]),
    ),
    ...Object.fromEntries(
      rows.flatMap((_, at) => [
        [`/covers/${at}/field`, `rows.${at}.field`],
        [`/covers/${at}/matches`, `rows.${at}.text`],
      ]),
    ),
    '/covers': 'rows',
  }
}
