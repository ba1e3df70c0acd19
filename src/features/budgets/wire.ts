/** Serialization of budgets. */

import type { BudgetThreshold } from '../../database/schema/records.ts'
import { dayAt } from '../../lib/calendar.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { decimalNumber, NANO_DIGITS } from '../../lib/money.ts'
import { type BudgetRecord, firstDayOf, hasEnd, type PeriodRecord, unitsOf } from '../spending/contract.ts'
import type { BudgetAlertBody, BudgetBody, BudgetState, Threshold } from './schema.ts'
import type { AlertView, BudgetView } from './store.ts'

/** The share from which a budget is nearly used up. */
const NEARLY_PERCENT = 80n

/** Dollars of nano-dollars, or tokens. */
export function numberOf({ measure }: Pick<BudgetRecord, 'measure'>, units: bigint): number {
  return decimalNumber(units, measure === 'tokens' ? 0 : NANO_DIGITS)
}

export function stateOf(spent: bigint, available: bigint): BudgetState {
  if (spent > available) return 'exceeded'
  return spent > 0n && spent * 100n >= available * NEARLY_PERCENT ? 'nearly' : 'within'
}

/** When entries were counted; null by cost, which each report adds up. */
export const countedAtOf = ({ basis }: BudgetRecord, { countedAt }: PeriodRecord): string | null =>
  basis === 'cost' ? null : timestampOrNull(countedAt)

/** The first and the last day of a period; null where it has none. */
export function daysOf(period: PeriodRecord, timeZone: string): { from: string | null; to: string | null } {
  return {
    from: firstDayOf(period),
    to: hasEnd(period) ? dayAt(period.endsAt - 1, timeZone) : null,
  }
}

function thresholdBody({ percent, forecast, leads, billing, people, emails, webhooks }: BudgetThreshold): Threshold {
  return {
    percent,
    of: forecast ? 'forecast' : 'spent',
    leads: leads ?? false,
    billing: billing ?? false,
    people: people ?? [],
    emails: emails ?? [],
    webhooks: webhooks ?? [],
  }
}

export type BudgetTerms = Omit<BudgetBody, 'current'>

/** What people decide about a budget, without what is spent of it. */
export function termsBody({ budget, client, project, ticket, manager }: BudgetView): BudgetTerms {
  return {
    id: budget.uid,
    name: budget.name,
    scope: {
      client: client && { id: client.uid, name: client.name },
      project: project && { id: project.uid, key: project.key, name: project.name },
      ticket: ticket && { id: ticket.uid, key: ticket.key },
      agent_manager: manager && { id: manager.uid, name: manager.name },
      agent_name: budget.agentName,
      model: budget.model,
      label: budget.labelName === null ? null : `${budget.labelName}:${budget.labelValue}`,
    },
    measure: budget.measure,
    basis: budget.basis,
    amount: numberOf(budget, budget.amount),
    period: budget.period,
    starts_on: budget.firstDay,
    ends_on: budget.lastDay,
    roll_over: budget.rollOver,
    thresholds: budget.thresholds.map(thresholdBody),
    of_project: budget.ofProject,
    created_at: timestamp(budget.createdAt),
    archived_at: timestampOrNull(budget.archivedAt),
  }
}

/** @param period the current one, if there is one */
export function budgetBody(view: BudgetView, period: PeriodRecord | undefined, timeZone: string): BudgetBody {
  const { budget } = view
  const spent = period && unitsOf(period)
  return {
    ...termsBody(view),
    current:
      period && budget.archivedAt === null
        ? {
            ...daysOf(period, timeZone),
            spent: numberOf(budget, spent!),
            available: numberOf(budget, period.available),
            state: stateOf(spent!, period.available),
            complete: period.countedAt !== null,
            counted_at: countedAtOf(budget, period),
          }
        : null,
  }
}

export function alertBody({ alert, budget }: AlertView): BudgetAlertBody {
  return {
    id: alert.uid,
    budget: { id: budget.uid, name: budget.name },
    period: { from: firstDayOf(alert) },
    of: alert.kind,
    percent: alert.percent,
    measure: budget.measure,
    basis: budget.basis,
    spent: Number(alert.spent),
    available: Number(alert.available),
    at: timestamp(alert.at),
    notified_at: timestampOrNull(alert.notifiedAt),
  }
}
