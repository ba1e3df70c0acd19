/** Plans in words. */
import { count, counted } from '../../format/counts.ts'
import { exactMoney } from '../../format/money.ts'
import { type Condition, fieldTitle } from '../../parts/condition.ts'
import type { api, Body } from '../../server/api.ts'

export type Plan = Body<Awaited<ReturnType<(typeof api)['plans']['get']>>>['data'][number]
export type CommonPlan = Body<Awaited<ReturnType<(typeof api)['common-plans']['get']>>>['data'][number]
export type Terms = Plan['versions'][number]
type Period = Terms['period']

export const PERIODS: Record<Period, string> = { week: 'Weekly', month: 'Monthly', year: 'Yearly', once: 'Once' }
export const WEIGHTS: Record<Terms['weight'], string> = {
  list_value: 'List value',
  tokens: 'Tokens',
  active_time: 'Active time',
  active_days: 'Days with usage, equally',
}
const PER: Record<Period, string> = { week: 'per week', month: 'per month', year: 'per year', once: 'once' }
export const STATE_COLORS: Record<Plan['state'], string> = { active: 'teal', planned: 'indigo', ended: 'gray' }

type Priced = Pick<Terms, 'fee' | 'currency' | 'period' | 'seats'>

/** `5 seats at €25.00 per month` */
export function feeInWords({ fee, currency, period, seats }: Priced): string {
  const price = `${exactMoney(fee, currency)} ${PER[period]}`
  return seats === 1 ? price : `${counted(seats, 'seat')} at ${price}`
}

type Allowing = Pick<Terms, 'allowance' | 'allowance_unit' | 'overage_price' | 'currency'>

/** `$10.00, then $1.00 per dollar`; undefined without an allowance. */
export function allowanceInWords({ allowance, allowance_unit, overage_price, currency }: Allowing): string | undefined {
  if (allowance === null || allowance_unit === null) return undefined
  const included = allowance_unit === 'usd' ? exactMoney(allowance) : `${count(allowance)} ${allowance_unit}`
  if (overage_price === null) return `${included}, no charge beyond that`
  const unit = { usd: 'dollar', tokens: 'token', requests: 'request' }[allowance_unit]
  return `${included}, then ${exactMoney(overage_price, currency)} per ${unit}`
}

/** How entries share the fee; undefined if it is by list value, each person with a seat. */
export function sharingInWords({ weight, pooled }: Pick<Terms, 'weight' | 'pooled'>): string | undefined {
  if (weight === 'list_value' && !pooled) return undefined
  return `Shared by ${WEIGHTS[weight].toLowerCase()}${pooled ? ', all seats together' : ''}`
}

/** `Harness claude-code and Model gpt-*`; `all usage` */
export const coversInWords = (covers: readonly Condition[]): string =>
  covers.map(({ field, matches }) => `${fieldTitle(field)} ${matches}`).join(' and ') || 'all usage'

/** The names of the people, each once; `Everyone`. */
export function holdersInWords({ people }: Pick<Plan, 'people'>): string {
  const names = [...new Set(people.map(({ name }) => name))]
  if (names.length === 0) return 'Everyone'
  return names.length > 3 ? counted(names.length, 'person', 'people') : names.join(', ')
}

/** The terms that apply now; of a plan that has not begun, the first ones. */
export const currentTerms = ({ versions, current_period }: Plan): Terms =>
  versions.find(({ from }) => current_period !== null && from <= current_period.from) ?? versions.at(-1)!
