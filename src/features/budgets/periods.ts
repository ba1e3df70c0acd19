/** The periods of budgets: when they begin, and what of one is available in the next (docs/design/budgets.md). */
import type { Database, Tx } from '../../database/database.ts'
import { refusal } from '../../errors.ts'
import { addDays, startOfDay } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Calendar, DatedSpan } from '../../shared/calendar-periods.ts'
import type { OrganizationService } from '../organization/service.ts'
import { type BudgetRecord, leftOf, nextPeriod, periodAt } from '../spending/contract.ts'
import type { SpendingService } from '../spending/service.ts'
import { listPeriods, listWithoutPeriod, updateAvailable } from './store.ts'

/** Of the past of a budget that is added with an earlier first day. */
export const PAST_PERIODS = 400

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  spending: Pick<SpendingService, 'addPeriods' | 'open'>
}

export type BudgetPeriods = ReturnType<typeof createPeriods>

export function createPeriods({ db, clock, organization, spending }: Dependencies) {
  /**
   * Adds the periods from the first day, or the current one, up to now; of a budget without a first day that has ended, the
   * last one. There are at most `PAST_PERIODS`: of more, the latest, or none and a 422.
   */
  async function addPeriods(tx: Tx, budget: BudgetRecord, { refusesMore }: { refusesMore: boolean }): Promise<void> {
    const spans = spansOf(budget, await organization.settings(), clock.now())
    if (spans.length > PAST_PERIODS && refusesMore) {
      throw refusal('/starts_on', 'not_allowed', `must be at most ${PAST_PERIODS} periods ago`)
    }
    await spending.addPeriods(tx, budget, spans.slice(-PAST_PERIODS))
  }

  /** Brings what was rolled over up to date, from the oldest period on. */
  async function rollOver(tx: Tx, budget: BudgetRecord): Promise<void> {
    if (!budget.rollOver) return
    let left = 0n
    for (const period of (await listPeriods(tx, budget.id, PAST_PERIODS)).reverse()) {
      const isOver = period.endsAt <= clock.now()
      const isCounted = period.recountAt !== null
      // What was available in the past stays so, once it is known.
      const available = isOver && isCounted ? period.available : budget.amount + left
      if (period.available !== available) await updateAvailable(tx, { id: period.id, available })
      // What is left of it follows when it is counted, which is before the next one.
      if (isOver && !isCounted) return
      left = leftOf({ ...period, available })
    }
  }

  /** Begins periods without entries, too, and those of budgets that were imported, which have none. */
  async function openPeriods(): Promise<void> {
    const now = clock.now()
    const calendar = await organization.settings()
    const missing = (await listWithoutPeriod(db.read, now))
      .filter(({ budget, isNew }) => isNew || periodAt(now, budget, calendar))
      .map(({ budget }) => budget)
    if (missing.length === 0) return
    await db.write(
      async (tx) => {
        for (const budget of missing) {
          const [newest] = await listPeriods(tx, budget.id, 1)
          if (newest) await spending.open(tx, budget, now, { calendar })
          else await addPeriods(tx, budget, { refusesMore: false })
        }
      },
      { isolation: 'read committed' },
    )
  }

  return { addPeriods, rollOver, openPeriods }
}

/** The periods of a budget from its first day up to now. */
function spansOf(budget: BudgetRecord, calendar: Calendar, now: number): DatedSpan[] {
  const { firstDay, period } = budget
  const first =
    firstDay === null ? Math.min(now, endOf(budget, calendar.timeZone)) : startOfDay(firstDay, calendar.timeZone)
  let span =
    periodAt(period === 'once' ? first : Math.min(first, now), budget, calendar) ?? periodAt(first, budget, calendar)
  const spans: DatedSpan[] = []
  while (span) {
    spans.push(span)
    if (span.endingAt > now) break
    span = nextPeriod(span, budget, calendar)
  }
  return spans
}

function endOf({ lastDay }: BudgetRecord, timeZone: string): number {
  return lastDay === null ? Number.POSITIVE_INFINITY : startOfDay(addDays(lastDay, 1), timeZone) - 1
}
