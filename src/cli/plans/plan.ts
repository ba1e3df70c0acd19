/** A plan on the command line. */
import { InvalidArgumentError } from 'commander'
import type { CommonPlan, PeriodBody, PlanBody } from '../../features/plans/schema.ts'
import { collectCondition } from '../rules/rule.ts'
import { counted, countText, exactText, inDollars } from '../terminal/numbers.ts'

type Terms = Pick<
  CommonPlan,
  | 'period'
  | 'fee'
  | 'currency'
  | 'seats'
  | 'covers'
  | 'allowance'
  | 'allowance_unit'
  | 'overage_price'
  | 'pooled'
  | 'weight'
>

interface Holder {
  person: string
  from?: string
  to?: string
}

/** `ada@example.com`, or with days: `ada@example.com:2026-11-01..2026-11-30`, either of which may be missing. */
function collectPerson(text: string, before: Holder[] = []): Holder[] {
  if (text === 'everyone') return []
  const [, person, days, from, to] = /^([^:]+)(:(\d[\d-]*)?\.\.(\d[\d-]*)?)?$/.exec(text) ?? []
  if (person === undefined || (days !== undefined && !from && !to)) {
    throw new InvalidArgumentError(
      'Use an e-mail address or id, with days such as ada@example.com:2026-11-01..2026-11-30.',
    )
  }
  return [...before, { person, ...(from && { from }), ...(to && { to }) }]
}

type Condition = ReturnType<typeof collectCondition>[number]

export const PRORATE = {
  flag: '--prorate <yes|no>',
  doc: 'of a shortened period: yes charges its fee by days, no in full',
}

/** The flags of a plan that differ from their fields. */
export const PLAN_FLAGS = {
  people: {
    flag: '--person <person>',
    doc: 'who uses it: e-mail address or id, with days after a colon, such as ada@example.com:2026-11-01..2026-11-30; repeatable; everyone for the organization',
    read: collectPerson,
  },
  vendor_codes: '--vendor-code <code>',
  exchange_rate: { flag: '--exchange-rate <number>', doc: 'units of the currency per US dollar' },
  source_url: '--source-url <address>',
  source_day: '--source-day <date>',
  covers: {
    flag: '--covers <field=pattern>',
    doc: 'usage that it covers, such as agent_harness=claude-code; repeatable, an entry must match all; all for all usage',
    read: (text: string, before?: Condition[]) => (text === 'all' ? [] : collectCondition(text, before)),
  },
}

const amountText = (amount: number, currency: string): string => `${exactText(amount)} ${currency}`

const PER = { week: 'week', month: 'month', year: 'year', once: 'all the time' }

/** `5 seats at 25 USD per month`. */
export function feeText({ fee, currency, period, seats }: Terms): string {
  const price = `${amountText(fee, currency)} ${period === 'once' ? 'once' : `per ${PER[period]}`}`
  return seats === 1 ? price : `${counted(seats, 'seat')} at ${price}`
}

export const coversText = ({ covers }: Pick<Terms, 'covers'>): string =>
  covers.map(({ field, matches }) => `${field}=${matches}`).join(' and ') || 'all usage'

/** `10 usd, then 1 USD each`. */
export function allowanceText({ allowance, allowance_unit, overage_price, currency }: Terms): string | null {
  if (allowance === null) return null
  const included = allowance_unit === 'usd' ? inDollars(allowance) : `${countText(allowance)} ${allowance_unit}`
  const beyond =
    overage_price === null
      ? 'nothing charged beyond'
      : `${amountText(overage_price, currency)} for each ${UNITS[allowance_unit!]} beyond`
  return `${included}, ${beyond}`
}

/** `tokens, all seats together`; null for what is usual. */
function sharingText({ weight, pooled }: Terms): string | null {
  if (weight === 'list_value' && !pooled) return null
  return `${weight.replace('_', ' ')}${pooled ? ', all seats together' : ''}`
}

const UNITS = { usd: 'dollar', tokens: 'token', requests: 'request' }

export function periodText({ from, to, fee_usd }: PeriodBody): string {
  return `${from} ${to === null ? 'on' : `to ${to}`}, ${inDollars(fee_usd)}`
}

export function holderText({ people }: Pick<PlanBody, 'people'>): string {
  const names = [...new Set(people.map(({ name }) => name))]
  return names.length === 0
    ? 'everyone'
    : names.length <= 3
      ? names.join(', ')
      : counted(names.length, 'person', 'people')
}

export function planFields(plan: PlanBody): [name: string, value: string | null][] {
  return [
    ['plan', plan.name],
    ['id', plan.id],
    ['product', `${plan.product} of ${plan.vendor}`],
    ['state', plan.state],
    ['period', plan.current_period && periodText(plan.current_period)],
    ...(plan.people.length === 0 ? [['used by', 'everyone'] as [string, string]] : []),
    ...plan.people.map(({ name, from, to }): [string, string] => [
      'used by',
      `${name}, from ${from}${to === null ? '' : ` to ${to}`}`,
    ]),
    ...plan.versions.flatMap((terms): [string, string | null][] => [
      [
        `from ${terms.from}`,
        `${feeText(terms)}${terms.exchange_rate === null ? '' : `, ${exactText(terms.exchange_rate)} ${terms.currency} per US dollar`}`,
      ],
      ['  covers', coversText(terms)],
      ['  includes', allowanceText(terms)],
      ['  shared by', sharingText(terms)],
      [
        '  source',
        terms.source_url && `${terms.source_url}${terms.source_day === null ? '' : `, ${terms.source_day}`}`,
      ],
    ]),
    ['last day', plan.ends_on],
    ['vendor codes', plan.vendor_codes.join(', ') || null],
    ['note', plan.note],
  ]
}
