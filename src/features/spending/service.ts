/**
 * What is spent of budgets (docs/design/budgets.md). Recording adds what reports change in its own transaction, so that a
 * report which reaches a threshold creates the alert with it. Other changes of entries are noted (`noted-changes.ts`) and added
 * by a job. Sums can't drift unnoticed: a job counts all entries of each period again from time to time (features/budgets).
 */
import { Cached } from '../../database/cached.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import type { DatedSpan } from '../../shared/calendar-periods.ts'
import type { OrganizationService } from '../organization/service.ts'
import { type Announcements, createAlerts } from './alerts.ts'
import { leftOf, type Spending } from './amount.ts'
import { periodAt, periodsUpTo } from './period.ts'
import type { BudgetRecord, PeriodRecord } from './records.ts'
import { changeOf, sideOf, subjectsOf } from './sides.ts'
import { type BudgetTerms, groupsCounting, type Side, Sums } from './spending.ts'
import {
  addSpending,
  findNewestPeriod,
  finishCount,
  hasChanges,
  insertChanges,
  insertPeriods,
  listActiveBudgets,
  listPeriodsAt,
  listPeriodsSince,
  takeChanges,
} from './store/periods.ts'
import { readTerms } from './terms.ts'

export type { Announcements } from './alerts.ts'
export { listNotedSides, subjectsOf } from './sides.ts'
export { readTerms } from './terms.ts'

const DAY_MS = 86_400_000

/** Entries of older periods are rare, and their periods are looked up. */
const KNOWN_MS = 40 * DAY_MS

/**
 * To how many budgets a report adds what an entry counts: one for each attribute of a scope, and one of everything. The job
 * adds to more, for many entries at once, so that a report does not take longer with each budget.
 */
const ADDED_AT_ONCE = 8

/** A transaction of the job takes some 20 ms with as many, and adds to each budget once, however many it takes. */
const CHANGES_AT_ONCE = 2_500

/**
 * A transaction that began before a budget was added does not know of it, so its entries are counted once more when such
 * transactions have ended.
 */
const SETTLED_MS = 5 * 60_000

/** How often entries are counted again, in case something was missed: those of older periods hardly change any more. */
const RECOUNT_MS = DAY_MS
const RECOUNT_OLD_MS = 7 * DAY_MS

/** By other bases than the cost, reports add nothing. What has ended changes while the periods of plans are not closed. */
const MINUTE_MS = 60_000
const RECOUNT_ENDED_MS = 3_600_000

/** A period that ended longer ago causes no alerts by being counted: nobody can act on them. */
const NEWS_MS = DAY_MS

/** How soon changes by people show. A look costs microseconds if there are none. */
const APPLY_EVERY_MS = 500

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  announcements: Announcements
}

export type SpendingService = ReturnType<typeof createSpendingService>

export function createSpendingService({ db, clock, organization, announcements }: Dependencies) {
  async function readActiveTerms(reader: Reader): Promise<BudgetTerms | undefined> {
    const budgets = await listActiveBudgets(reader)
    if (budgets.length === 0) return undefined
    const [periods, { timeZone, weekStart, markupPpm }] = await Promise.all([
      listPeriodsSince(reader, clock.now() - KNOWN_MS),
      organization.settings(reader),
    ])
    const periodsOf = Map.groupBy(periods, ({ budgetId }) => budgetId)
    const known = budgets.map((budget) => ({ ...budget, periods: periodsOf.get(budget.id) ?? [] }))
    return readTerms(reader, known, { timeZone, weekStart, markupPpm })
  }

  const cached = new Cached(readActiveTerms)
  const alerts = createAlerts({ clock, announcements })

  const findAt = async (tx: Tx, { id }: BudgetRecord, at: number) => (await listPeriodsAt(tx, [id], at)).get(id)?.id

  /**
   * The period of a budget at a moment: it is begun if it is later than all others, with those that were missed while no
   * server was running. Undefined for one before the first.
   */
  async function openPeriod(
    tx: Tx,
    budget: BudgetRecord,
    at: number,
    { calendar }: Pick<BudgetTerms, 'calendar'>,
  ): Promise<number | undefined> {
    const found = await findAt(tx, budget, at)
    if (found !== undefined) return found
    const newest = await findNewestPeriod(tx, budget.id)
    if (newest && at < newest.endsAt) return undefined
    const span = periodAt(at, budget, calendar)
    if (!span) return undefined
    let left = budget.rollOver && newest ? leftOf(newest) : 0n
    const missing = periodsUpTo(span, newest, budget, calendar).map((each) => {
      const available = budget.amount + left
      if (budget.rollOver) left = available
      return { ...each, available }
    })
    await insertPeriods(tx, budget.id, missing)
    return findAt(tx, budget, at)
  }

  /** Adds what was summed up, and creates the alerts of thresholds that are reached. */
  async function addSums(tx: Tx, sums: Sums, terms: BudgetTerms): Promise<void> {
    for (const [at, unknown] of Map.groupBy(sums.unknown(), (each) => each.at)) {
      const ids = unknown.map(({ budget }) => budget.id)
      const found = await listPeriodsAt(tx, ids, at)
      for (const { budget, spending } of unknown) {
        const [newest] = budget.periods
        const isPast = newest !== undefined && at < newest.endsAt
        const id = found.get(budget.id)?.id ?? (isPast ? undefined : await openPeriod(tx, budget, at, terms))
        if (id !== undefined) sums.addKnown(id, spending)
      }
    }
    for (const period of await addSpending(tx, sums.rows())) {
      const budget = terms.byId.get(period.budgetId)
      if (budget) await alerts.warn(tx, budget, period)
    }
  }

  /** Adds to the budgets what entries count for few of them, and notes the rest. */
  async function addAll(tx: Tx, terms: BudgetTerms, sides: readonly Side[], mostBudgets: number): Promise<void> {
    const sums = new Sums(terms)
    const noted: Side[] = []
    const subjects = await subjectsOf(tx, sides)
    for (const [position, side] of sides.entries()) {
      const groups = groupsCounting(terms, subjects[position]!, side.startedAt)
      const budgets = groups.reduce((count, group) => count + group.budgets.length, 0)
      if (budgets > mostBudgets) noted.push(side)
      else sums.add(side, groups)
    }
    await addSums(tx, sums, terms)
    await insertChanges(tx, noted.map(changeOf))
  }

  async function applyChanges(): Promise<boolean> {
    if (!(await hasChanges(db.read))) return false
    return db.write(
      async (tx) => {
        const changes = await takeChanges(tx, CHANGES_AT_ONCE)
        const terms = await cached.get(tx)
        if (terms) await addAll(tx, terms, changes.map(sideOf), Number.POSITIVE_INFINITY)
        return changes.length === CHANGES_AT_ONCE
      },
      { isolation: 'read committed' },
    )
  }

  async function applyAllChanges(): Promise<void> {
    while (await applyChanges());
  }

  return {
    /** What decides where entries count, as the transaction sees it; undefined without budgets. */
    terms: (reader: Reader | Tx): BudgetTerms | undefined | Promise<BudgetTerms | undefined> => cached.get(reader),

    /**
     * Adds what reports changed, at the end of their transaction, and creates the alerts of thresholds that are reached.
     * The sides are those of entries that count before and after. Those that count for many budgets are noted instead.
     */
    record: (tx: Tx, terms: BudgetTerms, sides: readonly Side[]) => addAll(tx, terms, sides, ADDED_AT_ONCE),

    /** Adds the changes that were noted. */
    applyChanges: applyAllChanges,

    /** Opens the period of a budget at a moment, if it is later than those that it has. */
    open: openPeriod,

    /** Adds periods of a budget, in which its amount is available. */
    addPeriods: (tx: Tx, { id, amount }: BudgetRecord, spans: readonly DatedSpan[]) =>
      insertPeriods(
        tx,
        id,
        spans.map((span) => ({ ...span, available: amount })),
      ),

    /** The periods of these budgets that contain a moment, by budget. */
    periodsAt: (ids: readonly number[], at: number): Promise<Map<number, PeriodRecord>> =>
      listPeriodsAt(db.read, ids, at),

    /** Corrects a period after all of its entries were counted. False if it was counted meanwhile. */
    async correct(tx: Tx, budget: BudgetRecord, period: PeriodRecord, correction: Spending): Promise<boolean> {
      const now = clock.now()
      const corrected = await finishCount(tx, period, correction, {
        countedAt: now,
        recountAt: recountOf(budget, period, now),
      })
      if (!corrected) return false
      const isNews = corrected.endsAt > now - NEWS_MS
      // Whatever has an alert already gets no second one, so this also finds thresholds that a report has missed.
      await alerts.warn(tx, budget, isNews ? { ...corrected, alerted: 0 } : corrected, { silently: !isNews })
      return true
    },

    warnOfNew: alerts.warnOfNew,

    raise: alerts.raise,

    jobs: [
      new Job({
        name: 'budget-changes',
        task: 'add what entries change to what is spent of a budget',
        everyMs: APPLY_EVERY_MS,
        run: applyAllChanges,
      }),
    ],
  }
}

/** When the entries of a period are counted again. */
function recountOf({ basis }: BudgetRecord, { countedAt, endsAt }: PeriodRecord, now: number): number {
  if (basis !== 'cost')
    return now + (endsAt > now ? MINUTE_MS : endsAt > now - KNOWN_MS ? RECOUNT_ENDED_MS : RECOUNT_MS)
  if (countedAt === null) return now + SETTLED_MS
  return now + (endsAt < now - KNOWN_MS ? RECOUNT_OLD_MS : RECOUNT_MS)
}
