/** What people are told about alerts. Pure. */
import { BASIS_TITLES } from '../../shared/cost-basis.ts'
import type { Formats } from '../../shared/locales.ts'
import { type AlertRecord, type BudgetRecord, hasStart } from '../spending/contract.ts'

export interface AlertText {
  subject: string
  body: string
}

interface Circumstances {
  /** What the budget is for, in words. */
  scope: string
  /** Where the budget is shown; undefined if the server's public address is not known. */
  url: string | undefined
  formats: Formats
}

export function alertText(
  budget: BudgetRecord,
  {
    kind,
    percent,
    spent,
    available,
    firstDay,
    at,
  }: Pick<AlertRecord, 'kind' | 'percent' | 'spent' | 'available' | 'firstDay' | 'at'>,
  { scope, url, formats }: Circumstances,
): AlertText {
  const textOf = (amount: string) =>
    budget.measure === 'tokens' ? formats.counted(Number(amount), 'token') : formats.money(Number(amount))
  const [used, limit] = [textOf(spent), textOf(available)]
  const period = hasStart({ firstDay }) ? ` (period from ${formats.day(firstDay)})` : ''
  const what =
    kind === 'forecast'
      ? `The forecast for the budget “${budget.name}” reaches ${percent}% of ${limit}${period}: ${used} by the end of the period.`
      : `The budget “${budget.name}” has reached ${percent}% of ${limit}${period}: ${used} spent.`
  return {
    subject:
      kind === 'forecast'
        ? `Budget ${budget.name}: forecast at ${percent}% (${used} of ${limit})`
        : `Budget ${budget.name}: ${percent}% reached (${used} of ${limit})`,
    body: [
      what,
      '',
      `It counts ${budget.basis === 'cost' ? '' : `the ${BASIS_TITLES[budget.basis].toLowerCase()} of `}${scope}.`,
      `As of ${formats.moment(at, 'UTC')} UTC. Late entries and corrections may change the amount; you will not get this alert again for this period.`,
      ...(url === undefined ? [] : ['', url]),
    ].join('\n'),
  }
}

/** What a budget counts, in words. */
export function scopeText(scope: Record<string, string | null>): string {
  const parts = Object.entries(scope).flatMap(([what, name]) => (name === null ? [] : [`${what} ${name}`]))
  return parts.length === 0 ? 'all usage of the organization' : `usage of ${parts.join(', ')}`
}
