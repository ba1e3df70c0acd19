/** Events of alerts, recorded in the transaction that creates them. */
import type { Tx } from '../../database/database.ts'
import { type BudgetRecord, firstDayOf } from '../spending/contract.ts'
import type { Announcements } from '../spending/service.ts'

/** What an alert is announced as: an event, for those who see the budget and for the webhooks of its threshold. */
export interface AlertEvent {
  type: 'budget.threshold_crossed' | 'budget.forecast_exceeded'
  at: number
  object: { id: string; name: string }
  projectId: number | null
  after: Record<string, unknown>
}

export interface EventRecorder {
  record(tx: Tx, events: readonly AlertEvent[]): Promise<void>
}

export function createAnnouncements(events?: EventRecorder): Announcements {
  return {
    async thresholdReached(tx, budget, alerts) {
      await events?.record(
        tx,
        alerts.map((alert) => ({
          type: alert.kind === 'forecast' ? 'budget.forecast_exceeded' : 'budget.threshold_crossed',
          at: alert.at,
          object: { id: budget.uid, name: budget.name },
          // By allocated cost, it is for those who see fees, and contains none.
          projectId: hasFees(budget) ? null : budget.projectId,
          after: {
            alert: alert.uid,
            period: firstDayOf(alert),
            measure: budget.measure,
            basis: budget.basis,
            percent: alert.percent,
            ...(!hasFees(budget) && { [alert.kind]: Number(alert.spent), available: Number(alert.available) }),
            webhooks: webhooksOf(budget, alert),
          },
        })),
      )
    },
  }
}

const hasFees = ({ basis }: BudgetRecord) => basis === 'allocated'

function webhooksOf({ thresholds }: BudgetRecord, { kind, percent }: { kind: string; percent: number }): string[] {
  return thresholds
    .filter((threshold) => threshold.percent === percent && (threshold.forecast === true) === (kind === 'forecast'))
    .flatMap(({ webhooks }) => webhooks ?? [])
}
