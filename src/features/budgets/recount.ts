/** Counts what is spent in the periods of budgets from their entries. */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { SpendingService } from '../spending/service.ts'
import { COUNT_TASK } from './counting.ts'
import { type BudgetPeriods, PAST_PERIODS } from './periods.ts'
import { findBudget, listEveryBudget, listPeriods, listUncounted } from './store.ts'

const COUNTS_AT_ONCE = 20

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  spending: Pick<SpendingService, 'applyChanges' | 'correct'>
  periods: Pick<BudgetPeriods, 'openPeriods' | 'rollOver'>
}

export function createRecount({ db, clock, organization, spending, periods }: Dependencies) {
  async function countNext(): Promise<number> {
    await periods.openPeriods()
    await spending.applyChanges()
    const now = clock.now()
    const { timeZone, weekStart, markupPpm } = await organization.settings()
    const waiting = await listUncounted(db.read, now, COUNTS_AT_ONCE)
    const postponed = new Set<number>()
    for (const { id: periodId, budgetId } of waiting) {
      if (postponed.has(budgetId)) continue
      const count = await db.slowly(COUNT_TASK, { periodId, now, timeZone, weekStart, markupPpm })
      if (!count) {
        postponed.add(budgetId)
        continue
      }
      await db.write(
        async (tx) => {
          const budget = await findBudget(tx, count.budgetId)
          if (!budget || !(await spending.correct(tx, budget, count.period, count.correction))) return
          await periods.rollOver(tx, budget)
        },
        { isolation: 'read committed' },
      )
    }
    return waiting.length
  }

  async function count(): Promise<void> {
    while ((await countNext()) === COUNTS_AT_ONCE);
  }

  return {
    /** Counts all periods that need it. */
    count,

    /** One sentence per period whose sums are not those of its entries. By other bases than the cost, these are of the last count. */
    async verify(): Promise<string[]> {
      const now = clock.now()
      const { timeZone, weekStart, markupPpm } = await organization.settings()
      const issues: string[] = []
      for (const { budget } of await listEveryBudget(db.read, 'everything')) {
        if (budget.basis !== 'cost') continue
        for (const period of await listPeriods(db.read, budget.id, PAST_PERIODS)) {
          if (period.countedAt === null) continue
          const count = await db.slowly(COUNT_TASK, { periodId: period.id, now, timeZone, weekStart, markupPpm })
          const { billions, units, millionths, entries, unpricedEntries } = count?.correction ?? NOTHING
          if ([billions, units, millionths, entries, unpricedEntries].some((number) => number !== 0)) {
            issues.push(
              `Budget ${budget.uid}: what is spent in the period from ${period.firstDay} is not the sum of its entries. It is counted again within a day, or a week if it is long over; to do it at once, archive and restore the budget.`,
            )
          }
        }
      }
      return issues
    },
  }
}

const NOTHING = { billions: 0, units: 0, millionths: 0, entries: 0, unpricedEntries: 0 }
