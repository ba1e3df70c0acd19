/** The alerts of thresholds that what is spent of a budget has reached. */
import type { Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { decimalOf, reaches, unitsOf } from './amount.ts'
import type { AlertRecord, BudgetRecord, PeriodRecord } from './records.ts'
import { insertAlert, listOpenPeriods, type SpentPeriod, saveAlerted } from './store/periods.ts'

/** Announces alerts, in the transaction that creates them. */
export interface Announcements {
  thresholdReached(tx: Tx, budget: BudgetRecord, alerts: readonly AlertRecord[]): Promise<void>
}

export function createAlerts({ clock, announcements }: { clock: Clock; announcements: Announcements }) {
  /** Creates the alerts of the thresholds that are reached for the first time, or only notes that they are reached. */
  async function warn(
    tx: Tx,
    budget: BudgetRecord,
    period: SpentPeriod,
    { silently = false }: { silently?: boolean } = {},
  ): Promise<void> {
    if (period.countedAt === null) return
    const reached = budget.thresholds
      .filter(
        ({ forecast, percent }) => !forecast && percent > period.alerted && reaches(period, percent, period.available),
      )
      .map(({ percent }) => percent)
      .sort((one, other) => one - other)
    if (reached.length === 0) return
    if (!silently) await raise(tx, budget, period, { kind: 'spent', percents: reached, units: unitsOf(period) })
    await saveAlerted(tx, period.id, reached.at(-1)!)
  }

  /** Creates and announces alerts, of the thresholds that have none yet in this period. */
  async function raise(
    tx: Tx,
    budget: BudgetRecord,
    { firstDay, available }: Pick<PeriodRecord, 'firstDay' | 'available'>,
    { kind, percents, units }: { kind: AlertRecord['kind']; percents: readonly number[]; units: bigint },
  ): Promise<void> {
    const alerts: AlertRecord[] = []
    // The same for all, so that people are notified of the highest only.
    const at = clock.now()
    for (const percent of percents) {
      const alert = await insertAlert(tx, {
        budgetId: budget.id,
        version: budget.version,
        firstDay,
        kind,
        percent,
        spent: decimalOf(budget, units),
        available: decimalOf(budget, available),
        at,
      })
      if (alert) alerts.push(alert)
    }
    if (alerts.length > 0) await announcements.thresholdReached(tx, budget, alerts)
  }

  /** Creates the alerts of new thresholds that are reached already in periods that have not ended. */
  async function warnOfNew(tx: Tx, budget: BudgetRecord): Promise<void> {
    for (const period of await listOpenPeriods(tx, budget.id, clock.now())) {
      await saveAlerted(tx, period.id, 0)
      await warn(tx, budget, { ...period, alerted: 0 })
    }
  }

  return { warn, warnOfNew, raise }
}
