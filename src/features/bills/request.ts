/** The parsed terms of a request for a bill, and every issue that its schema cannot express. Pure. */
import type { Issue } from '../../errors.ts'
import { type Days, daysOfMonth, isDay } from '../../lib/calendar.ts'
import { numberText } from '../../lib/exact-json.ts'
import { parseExactDecimal, RATE_DIGITS } from '../../lib/money.ts'
import { issuesOfConditions } from '../../schema/conditions.ts'
import { issuesOfCurrency, issuesOfEmail, parseMarkup } from '../../schema/fields.ts'
import { minorDigitsOf } from './currency.ts'
import type { BillTerms, LineDimension } from './document.ts'
import { BillRequest, type BillSending } from './schema.ts'

const DEFAULT_GROUPS: LineDimension[] = ['project', 'ticket']

/** Keeps extra lines to amounts that banks can process: a billion of any currency. */
const AMOUNT_LIMIT = 1_000_000_000

/** Two years: a mistyped year should not bill all entries. */
const PERIOD_DAYS_LIMIT = 732

/** The requested terms, some of which client and organization provide defaults for. */
export interface RequestedTerms extends Omit<BillTerms, 'currency' | 'minorDigits' | 'rate' | 'extraLines'> {
  period: Days
  markupPpm: number | undefined
}

/** The issues of a request that do not depend on its currency. */
export function issuesOfRequest(body: BillRequest, today: string): Issue[] {
  const issues: Issue[] = []
  const refuse = (pointer: string, code: string, message: string) => void issues.push({ pointer, code, message })
  const { period, month } = body
  if (period) {
    for (const end of ['from', 'to'] as const) {
      if (!isDay(period[end])) refuse(`/period/${end}`, 'bad_format', 'must be a valid date, such as 2026-11-30')
    }
    if (issues.length === 0 && period.to < period.from)
      refuse('/period/to', 'too_small', 'must not be earlier than `from`')
    if (issues.length === 0 && daysBetween(period) > PERIOD_DAYS_LIMIT) {
      refuse('/period', 'too_large', 'must not exceed two years')
    }
  }
  if (month !== undefined && !daysOfMonth(month)) refuse('/month', 'bad_format', 'must be a month, such as 2026-11')
  const from = period?.from ?? (month && `${month}-01`)
  if (from !== undefined && from > today)
    refuse(period ? '/period/from' : '/month', 'too_large', 'must not be in the future')
  if (body.group_by && new Set(body.group_by).size < body.group_by.length) {
    refuse('/group_by', 'not_allowed', 'must not contain duplicates')
  }
  if (body.markup !== undefined && parseMarkup(numberText(body, 'markup')) === undefined) {
    refuse('/markup', 'too_fine', 'must be a percentage with at most 4 decimals')
  }
  if (body.tax && parseMarkup(numberText(body.tax, 'percent')) === undefined) {
    refuse('/tax/percent', 'too_fine', 'must be a percentage with at most 4 decimals')
  }
  if (body.provisional && body.basis !== 'marginal' && body.basis !== 'allocated') {
    refuse('/provisional', 'not_allowed', 'needs the basis marginal or allocated: no other one contains shares of fees')
  }
  if (body.currency !== undefined) issues.push(...issuesOfCurrency(body.currency, '/currency'))
  return [...issuesOfConditions(BillRequest, body), ...issues]
}

export function daysBetween({ from, to }: Days): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000
}

/** For a body without issues. */
export function readRequest(body: BillRequest): RequestedTerms {
  return {
    period: body.period ?? daysOfMonth(body.month!)!,
    groupBy: (body.group_by as LineDimension[] | undefined) ?? DEFAULT_GROUPS,
    markupPpm: body.markup === undefined ? undefined : parseMarkup(numberText(body, 'markup')),
    tax: body.tax ? { name: body.tax.name ?? 'Tax', ppm: parseMarkup(numberText(body.tax, 'percent'))! } : null,
    showCost: body.show_cost ?? false,
    showActiveTime: body.show_active_time ?? false,
  }
}

/** The amounts of a request in the bill's currency, or their issues. */
export function readAmounts(
  body: BillRequest,
  currency: string,
): { issues: Issue[]; terms: Pick<BillTerms, 'currency' | 'minorDigits' | 'rate' | 'extraLines'> } {
  const issues: Issue[] = []
  const minorDigits = minorDigitsOf(currency)
  const extraLines = (body.extra_lines ?? []).map((line, index) => {
    const amountMinor = parseExactDecimal(numberText(line, 'amount'), minorDigits)
    if (amountMinor === undefined || Math.abs(line.amount) > AMOUNT_LIMIT) {
      issues.push({
        pointer: `/extra_lines/${index}/amount`,
        code: 'too_fine',
        message: `must be an amount in ${currency} of at most ${AMOUNT_LIMIT}, with at most ${minorDigits} decimals`,
      })
    }
    return { text: line.text, amountMinor: amountMinor ?? 0n }
  })
  const rate = readRate(body, currency, issues)
  return { issues, terms: { currency, minorDigits, rate, extraLines } }
}

function readRate(body: BillRequest, currency: string, issues: Issue[]): bigint {
  const one = 10n ** BigInt(RATE_DIGITS)
  if (body.exchange_rate === undefined) {
    if (currency === 'USD') return one
    issues.push({
      pointer: '/exchange_rate',
      code: 'required',
      message: `is required for a bill in ${currency}: the number of ${currency} per US dollar`,
    })
    return one
  }
  const rate = parseExactDecimal(numberText(body, 'exchange_rate'), RATE_DIGITS)
  if (rate === undefined || rate <= 0n) {
    issues.push({ pointer: '/exchange_rate', code: 'too_fine', message: `must have at most ${RATE_DIGITS} decimals` })
  } else if (currency === 'USD' && rate !== one) {
    issues.push({ pointer: '/exchange_rate', code: 'not_allowed', message: 'must be 1 for a bill in USD' })
  }
  return rate ?? one
}

export function issuesOfRecipients(addresses: BillSending['deliver_to'] = [], pointer = '/deliver_to'): Issue[] {
  return addresses.flatMap((address, index) => issuesOfEmail(address, `${pointer}/${index}`))
}
