/**
 * What is spent of budgets (docs/design/budgets.md). Recording adds what reports change in its own transaction, so that a
 * report which reaches a threshold creates the alert with it. Other changes of entries are noted (`noted-changes.ts`) and added
 * by a job. Sums can't drift unnoticed: a job counts all entries of each period again from time to time (features/budgets).
 */
import { Cached } from '../../database/cached.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import { formatDecimal, NANO_DIGITS } from '../../lib/money.ts'
import type { OrganizationService } from '../organization/service.ts'
import { reaches, unitsOf } from './amount.ts'
import type { Subject } from './matching.ts'
import { periodAt, periodsUpTo } from './period.ts'
import type { AlertRecord, BudgetRecord, ChangeRecord, PeriodRecord } from './records.ts'
import { type BudgetTerms, groupsCounting, type Side, Sums, termsOf } from './spending.ts'
import {
  addSpending,
  findNewestPeriod,
  finishCount,
  hasChanges,
  insertAlert,
  insertChanges,
  insertPeriod,
  listActiveBudgets,
  listLabels,
  listNames,
  listOpenPeriods,
  listPeriodsAt,
  listPeriodsSince,
  listProjectTerms,
  lockBeginning,
  type Spending,
  type SpentPeriod,
  saveAlerted,
  takeChanges,
} from './store/periods.ts'

export { amountOf, markedUp, millionthsOf, reaches, unitsOf } from './amount.ts'
export { BudgetIndex } from './matching.ts'
export { firstDayOf, hasEnd, hasStart, NO_FIRST_DAY, nextPeriod, periodAt } from './period.ts'
export { type BudgetTerms, contribution, type Side, termsOf } from './spending.ts'
export {
  insertPeriod,
  listChanges,
  listPeriodsAt,
  listProjectTerms,
  lockBeginning,
  type Spending,
} from './store/periods.ts'

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

/** A period that ended longer ago causes no alerts by being counted: nobody can act on them. */
const NEWS_MS = DAY_MS

/** How soon changes by people show. A look costs microseconds if there are none. */
const APPLY_EVERY_MS = 500

/** Announces alerts, in the transaction that creates them. */
export interface Announcements {
  thresholdReached(tx: Tx, budget: BudgetRecord, alerts: readonly AlertRecord[]): Promise<void>
}

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  announcements: Announcements
}

export type SpendingService = ReturnType<typeof createSpendingService>

export function createSpendingService({ db, clock, organization, announcements }: Dependencies) {
  async function readTerms(reader: Reader): Promise<BudgetTerms | undefined> {
    const budgets = await listActiveBudgets(reader)
    if (budgets.length === 0) return undefined
    const [periods, projects, { timeZone, weekStart, markupPpm }] = await Promise.all([
      listPeriodsSince(reader, clock.now() - KNOWN_MS),
      budgets.some(({ clientId, measure }) => clientId !== null || measure === 'billed_amount')
        ? listProjectTerms(reader)
        : [],
      organization.settings(reader),
    ])
    const periodsOf = Map.groupBy(periods, ({ budgetId }) => budgetId)
    const known = budgets.map((budget) => ({ ...budget, periods: periodsOf.get(budget.id) ?? [] }))
    return termsOf(known, projects, { timeZone, weekStart, markupPpm })
  }

  const cached = new Cached(readTerms)

  const findAt = async (tx: Tx, { id }: BudgetRecord, at: number) => (await listPeriodsAt(tx, [id], at)).get(id)?.id

  /**
   * The period of a budget at a moment: it is begun if it is later than all others, with those that were missed while no
   * server was running. Undefined for one before the first.
   */
  async function openPeriod(tx: Tx, budget: BudgetRecord, at: number, terms: BudgetTerms): Promise<number | undefined> {
    const found = await findAt(tx, budget, at)
    if (found !== undefined) return found
    const newest = await findNewestPeriod(tx, budget.id)
    if (newest && at < newest.endsAt) return undefined
    const span = periodAt(at, budget, terms.calendar)
    if (!span) return undefined
    await lockBeginning(tx)
    let left = budget.rollOver && newest ? leftOf(newest) : 0n
    for (const { firstDay, startingAt, endingAt } of periodsUpTo(span, newest, budget, terms.calendar)) {
      const available = budget.amount + left
      await insertPeriod(tx, { budgetId: budget.id, firstDay, startsAt: startingAt, endsAt: endingAt, available })
      if (budget.rollOver) left = available
    }
    return findAt(tx, budget, at)
  }

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
      if (budget) await warn(tx, budget, period)
    }
  }

  /** Adds to the budgets what entries count for few of them, and notes the rest. */
  async function addAll(tx: Tx, terms: BudgetTerms, sides: readonly Side[], mostBudgets: number): Promise<void> {
    const sums = new Sums(terms)
    const noted: Side[] = []
    const subjects = await withNames(tx, sides)
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

    /** Corrects a period after all of its entries were counted. False if it was counted meanwhile. */
    async correct(tx: Tx, budget: BudgetRecord, period: PeriodRecord, correction: Spending): Promise<boolean> {
      const now = clock.now()
      const corrected = await finishCount(tx, period, correction, { countedAt: now, recountAt: recountOf(period, now) })
      if (!corrected) return false
      const isNews = corrected.endsAt > now - NEWS_MS
      // Whatever has an alert already gets no second one, so this also finds thresholds that a report has missed.
      await warn(tx, budget, isNews ? { ...corrected, alerted: 0 } : corrected, { silently: !isNews })
      return true
    },

    /** Creates the alerts of new thresholds that are reached already in periods that have not ended. */
    async warnOfNew(tx: Tx, budget: BudgetRecord): Promise<void> {
      for (const period of await listOpenPeriods(tx, budget.id, clock.now())) {
        await saveAlerted(tx, period.id, 0)
        await warn(tx, budget, { ...period, alerted: 0 })
      }
    },

    raise,

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
function recountOf({ countedAt, endsAt }: PeriodRecord, now: number): number {
  if (countedAt === null) return now + SETTLED_MS
  return now + (endsAt < now - KNOWN_MS ? RECOUNT_OLD_MS : RECOUNT_MS)
}

/** What is left of a period; nothing if more than it was spent. */
export function leftOf(period: PeriodRecord): bigint {
  const left = period.available - unitsOf(period)
  return left > 0n ? left : 0n
}

/** Dollars, or tokens. */
export function decimalOf({ measure }: Pick<BudgetRecord, 'measure'>, units: bigint): string {
  return measure === 'tokens' ? units.toString() : formatDecimal(units, NANO_DIGITS)
}

export function sideOf({ id: _, sign, ...change }: ChangeRecord): Side {
  return { ...change, sign: sign === 1 ? 1 : -1 }
}

function changeOf({ agent: _agent, model: _model, labels: _labels, ...change }: Side): Omit<ChangeRecord, 'id'> {
  return change
}

/** The subjects of sides, with the names of keys of which only these are known. */
export async function withNames(reader: Reader, sides: readonly Side[]): Promise<Subject[]> {
  const ids = new Set<number>()
  const labelSets = new Set<number>()
  for (const { agent, model, labels, agentId, modelId, labelSetId } of sides) {
    if (agent === undefined) ids.add(agentId)
    if (model === undefined) ids.add(modelId)
    if (labels === undefined && labelSetId !== null) labelSets.add(labelSetId)
  }
  const names = await listNames(reader, [...ids])
  const labelsOf = await listLabels(reader, [...labelSets])
  return sides.map((side) => ({
    managerId: side.managerId,
    projectId: side.projectId,
    ticketId: side.ticketId,
    agent: side.agent ?? names.get(side.agentId) ?? '',
    model: side.model ?? names.get(side.modelId) ?? '',
    labels: side.labels ?? (side.labelSetId === null ? null : (labelsOf.get(side.labelSetId) ?? null)),
  }))
}
