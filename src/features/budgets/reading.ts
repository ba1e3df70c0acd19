/** Budgets as people read them, with what is spent and what will be. */
import { seesFees, type Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { notFound } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp } from '../../lib/duration.ts'
import { isId } from '../../lib/id.ts'
import type { OrganizationService } from '../organization/service.ts'
import { listPath } from '../selection/contract.ts'
import { hasEnd, hasStart, type PeriodRecord, unitsOf } from '../spending/contract.ts'
import type { SpendingService } from '../spending/service.ts'
import { countedFilter } from './counting.ts'
import type { BudgetForecasts } from './forecasts.ts'
import type { BudgetBody, BudgetStatus } from './schema.ts'
import { type BudgetSight, type BudgetView, filterOf, findBudgetView, listPeriods } from './store.ts'
import { budgetBody, countedAtOf, daysOf, numberOf, stateOf } from './wire.ts'

/** Who asks; null for the command line. */
export type BudgetAsker = Viewer | null

export async function sightOf(
  { db, organization }: Pick<Dependencies, 'db' | 'organization'>,
  asker: BudgetAsker,
): Promise<BudgetSight> {
  if (asker === null) return 'everything'
  const userId = asker.sees === 'everything' ? 'everyone' : asker.userId
  return { userId, seesFees: await seesFees(db.read, asker, await organization.settings()) }
}

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  spending: Pick<SpendingService, 'applyChanges' | 'periodsAt'>
  forecasts: Pick<BudgetForecasts, 'sumDays' | 'forecastAt'>
}

export type BudgetReading = ReturnType<typeof createReading>

export function createReading({ db, clock, organization, spending, forecasts }: Dependencies) {
  async function getView(uid: string, asker: BudgetAsker): Promise<BudgetView> {
    const view = isId('bdg', uid)
      ? await findBudgetView(db.read, uid, await sightOf({ db, organization }, asker))
      : undefined
    if (!view) throw notFound(`The budget ${uid}`)
    return view
  }

  async function bodiesOf(views: readonly BudgetView[]): Promise<BudgetBody[]> {
    const { timeZone } = await organization.settings()
    const ids = views.map(({ budget }) => budget.id)
    const periods = await spending.periodsAt(ids, clock.now())
    return views.map((view) => budgetBody(view, periods.get(view.budget.id), timeZone))
  }

  async function getBudget(uid: string, asker: BudgetAsker): Promise<BudgetBody> {
    const view = await getView(uid, asker)
    await spending.applyChanges()
    return (await bodiesOf([view]))[0]!
  }

  async function statusOf(view: BudgetView): Promise<BudgetStatus> {
    await spending.applyChanges()
    const { budget } = view
    const now = clock.now()
    const { timeZone } = await organization.settings()
    const period =
      (await spending.periodsAt([budget.id], now)).get(budget.id) ?? (await listPeriods(db.read, budget.id, 1))[0]
    if (!period) throw notFound(`A period of the budget ${budget.uid}`)
    const sums = await forecasts.sumDays(budget, period)
    const spent = unitsOf(period)
    const predicted = forecasts.forecastAt(period, sums)
    const number = (units: bigint) => numberOf(budget, units)
    const rough = (units: number) => number(BigInt(Math.round(units)))
    const filter = (await countedFilter(db.read, budget)) ?? filterOf(view)
    const bounds = boundsOf(period)
    return {
      budget: (await bodiesOf([view]))[0]!,
      period: {
        ...daysOf(period, timeZone),
        starting_at: bounds.starting_at === undefined ? null : timestamp(bounds.starting_at),
        ending_at: bounds.ending_at === undefined ? null : timestamp(bounds.ending_at),
      },
      spent: number(spent),
      available: number(period.available),
      rolled_over: number(period.available - budget.amount),
      remaining: number(period.available - spent),
      percent: period.available === 0n ? null : Number((spent * 1_000n) / period.available) / 10,
      state: stateOf(spent, period.available),
      entries: period.entries,
      unpriced_entries: period.unpricedEntries,
      complete: period.countedAt !== null,
      counted_at: countedAtOf(budget, period),
      // With the same total.
      entries_url: `${listPath({ ...filter, ...bounds })}${budget.basis === 'cost' ? '' : `&basis=${budget.basis}`}`,
      forecast: predicted && {
        amount: rough(predicted.amount),
        low: rough(predicted.low),
        high: rough(predicted.high),
        exceeded_on: predicted.exceededOn,
        days: predicted.days,
      },
      days: sums.days.map(({ day, spent: byDay }) => ({ date: day, spent: number(byDay) })),
      as_of: timestamp(now),
    }
  }

  return {
    getView,
    bodiesOf,
    getBudget,

    /** What is spent of the current period, otherwise of the latest, with a forecast. */
    getStatus: async (id: string, asker: BudgetAsker): Promise<BudgetStatus> => statusOf(await getView(id, asker)),
  }
}

/** The bounds of a period as filters of entries; none where it has no first or last day. */
function boundsOf(period: PeriodRecord): { starting_at?: number; ending_at?: number } {
  return {
    ...(hasStart(period) && { starting_at: period.startsAt }),
    ...(hasEnd(period) && { ending_at: period.endsAt }),
  }
}
