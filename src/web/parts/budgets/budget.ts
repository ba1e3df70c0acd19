/** Budgets in words. Amounts are in US dollars or tokens, depending on the measure. */
import { changedAddress } from '../../address.ts'
import { roughCount } from '../../format/counts.ts'
import { dayInWords } from '../../format/moments.ts'
import { money, wholeMoney } from '../../format/money.ts'
import type { api, Body } from '../../server/api.ts'
import { pageOfList } from '../entries/filters.ts'
import { periodInWords } from '../period.ts'
import { projectLabel } from '../project-label.ts'

export type Budget = Body<Awaited<ReturnType<(typeof api)['budgets']['get']>>>['data'][number]
export type Measure = Budget['measure']
export type BudgetState = NonNullable<Budget['current']>['state']

export const MEASURES = { cost: 'Cost', billed_amount: 'Billed amount', tokens: 'Tokens' } as const

export const PERIODS = {
  day: 'Daily',
  week: 'Weekly',
  month: 'Monthly',
  quarter: 'Quarterly',
  year: 'Yearly',
  once: 'Once',
} as const

/** `$2,500.00`, `1.20M tokens` */
export const amountInWords = (amount: number, measure: Measure): string =>
  measure === 'tokens' ? `${roughCount(amount)} tokens` : money(amount)

/** `$2,500`: without the cents, which nobody knows. */
export const forecastInWords = (amount: number, measure: Measure): string =>
  measure === 'tokens' ? amountInWords(amount, measure) : wholeMoney(amount)

/** `$475.68 of $400.00`, `6.05B of 1.00B tokens` */
export const spentInWords = ({ spent, available }: Pick<Use, 'spent' | 'available'>, measure: Measure): string =>
  `${measure === 'tokens' ? roughCount(spent) : money(spent)} of ${amountInWords(available, measure)}`

/** Which entries count: `Acme · model claude-opus-4-8`. */
export function scopeInWords({ client, project, ticket, agent_manager, ...of }: Budget['scope']): string {
  const named = [
    client?.name,
    project && projectLabel(project),
    ticket?.key,
    agent_manager?.name,
    of.agent_name && `agent ${of.agent_name}`,
    of.model && `model ${of.model}`,
    of.label && `label ${of.label}`,
  ]
  return named.filter(Boolean).join(' · ') || 'All entries'
}

interface Span {
  from: string | null
  to: string | null
}

/** `Nov 2026`, `From 1 Nov 2026`, `All time` */
export function spanInWords({ from, to }: Span): string {
  if (from && to) return periodInWords({ from, to })
  if (from) return `From ${dayInWords(from)}`
  return to ? `Until ${dayInWords(to)}` : 'All time'
}

/** The page with the entries that count. */
export function entriesPageOf(
  entriesUrl: string,
  timeZone: string,
  more: Record<string, string | undefined> = {},
): string {
  const [path, search = ''] = pageOfList(entriesUrl, timeZone).split('?')
  return changedAddress(path!, search, more)
}

/** Budgets that somebody should look at. */
export const URGENT_STATES = ['nearly', 'exceeded'] as const

const STATES = { within: 'Within budget', nearly: 'Nearly used up', exceeded: 'Exceeded' } as const

interface Use {
  spent: number
  available: number
  state: BudgetState
}

export const stateInWords = ({ spent, available, state }: Use): string =>
  state === 'nearly' && spent >= available ? 'Used up' : STATES[state]

/** The share that is spent, at most 1: for bars. */
export const shownShare = ({ spent, available, state }: Use): number =>
  state === 'exceeded' ? 1 : available > 0 ? Math.min(1, spent / available) : 0
