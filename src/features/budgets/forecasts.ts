/** What will be spent of budgets by the end of their periods, and alerts of it. */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { forecast as forecastOf } from '../../shared/forecast.ts'
import type { OrganizationService } from '../organization/service.ts'
import { amountOf, type BudgetRecord, type PeriodRecord, reaches, unitsOf } from '../spending/contract.ts'
import type { SpendingService } from '../spending/service.ts'
import { DAYS_TASK, type DaySums } from './days.ts'
import { listEveryBudget } from './store.ts'

const DAYS_LIMIT = 400

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  spending: Pick<SpendingService, 'periodsAt' | 'raise'>
}

export type BudgetForecasts = ReturnType<typeof createForecasts>

export function createForecasts({ db, clock, organization, spending }: Dependencies) {
  /** What was spent on the days of a period so far and the four weeks before, in units. */
  async function sumDays(budget: BudgetRecord, period: Pick<PeriodRecord, 'startsAt' | 'endsAt'>): Promise<DaySums> {
    const { timeZone, weekStart, markupPpm } = await organization.settings()
    const now = clock.now()
    return db.slowly(DAYS_TASK, { budgetId: budget.id, period, now, timeZone, weekStart, markupPpm, limit: DAYS_LIMIT })
  }

  /** It changes once an hour, unless more is spent by then than it says. */
  function forecastAt(period: PeriodRecord, { past, rest, sinceHour }: DaySums) {
    if (rest.length === 0) return null
    const [spent, available] = [Number(unitsOf(period)), Number(period.available)]
    const predicted = forecastOf({ past, rest, spent: spent - Number(sinceHour), available })
    if (!predicted) return null
    const [amount, low, high] = [predicted.amount, predicted.low, predicted.high].map((each) => Math.max(each, spent))
    return { ...predicted, amount: amount!, low: low!, high: high!, ...(spent > available && { exceededOn: null }) }
  }

  /** Creates alerts of forecasts that reach a threshold. */
  async function checkForecasts(): Promise<void> {
    for (const { budget } of await listEveryBudget(db.read, 'everything')) {
      const thresholds = budget.thresholds.filter(({ forecast }) => forecast)
      if (thresholds.length === 0) continue
      const period = (await spending.periodsAt([budget.id], clock.now())).get(budget.id)
      if (!period || period.countedAt === null) continue
      const predicted = forecastAt(period, await sumDays(budget, period))
      if (!predicted) continue
      const amount = BigInt(Math.round(predicted.amount))
      const reached = thresholds.filter(({ percent }) => reaches(amountOf(amount), percent, period.available))
      if (reached.length === 0) continue
      const percents = reached.map(({ percent }) => percent)
      await db.write((tx) => spending.raise(tx, budget, period, { kind: 'forecast', percents, units: amount }))
    }
  }

  return { sumDays, forecastAt, checkForecasts }
}
