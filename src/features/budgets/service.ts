/**
 * Budgets: how much may be spent on something in a period, and who is warned when a share of it is spent
 * (docs/design/budgets.md). Tally is not between agents and models, so it never stops anything.
 */

import type { Party } from '../../access/actor.ts'
import type { Person } from '../../access/caller.ts'
import type { Database, Tx } from '../../database/database.ts'
import { notFound, type Problem, validationFailed } from '../../errors.ts'
import { addDays, startOfDay } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp } from '../../lib/duration.ts'
import { type Id, isId } from '../../lib/id.ts'
import { foldName } from '../../lib/names.ts'
import { periodically } from '../../lib/periodically.ts'
import { seesEverything } from '../../schema/fields.ts'
import { eachPage, type Page, pageOf } from '../../schema/lists.ts'
import { writeKeyPage } from '../../schema/query.ts'
import type { Calendar, DatedSpan } from '../../shared/calendar-periods.ts'
import { forecast as forecastOf } from '../../shared/forecast.ts'
import { type AuditService, difference } from '../audit/service.ts'
import type { NotificationsService } from '../notifications/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { listPath } from '../selection/contract.ts'
import type { BudgetRecord, PeriodRecord } from '../spending/contract.ts'
import {
  amountOf,
  BudgetIndex,
  hasEnd,
  hasStart,
  insertPeriod,
  leftOf,
  listPeriodsAt,
  lockBeginning,
  nextPeriod,
  periodAt,
  reaches,
  type SpendingService,
  unitsOf,
} from '../spending/service.ts'
import { createAlerts, scopeOf } from './alerts.ts'
import { COUNT_TASK, countedFilter } from './counting.ts'
import { DAYS_TASK, type DaySums } from './days.ts'
import {
  checkDays,
  readAmount,
  readName,
  readScope,
  readThresholds,
  requireKnownNames,
  USUAL_THRESHOLDS,
} from './request.ts'
import type {
  BudgetAlertBody,
  BudgetBody,
  BudgetChange,
  BudgetCheck,
  BudgetState,
  BudgetStatus,
  BudgetTest,
  NewBudget,
} from './schema.ts'
import {
  type AlertView,
  type BudgetListFilter,
  type BudgetSight,
  type BudgetView,
  countActive,
  deletePeriods,
  filterOf,
  findBudget,
  findBudgetView,
  findProjectOf,
  insertBudget,
  listAlerts,
  listBudgets,
  listPeriods,
  listUncounted,
  listWithoutPeriod,
  rearm,
  updateAvailable,
  updateBudget,
} from './store.ts'
import { alertBody, type BudgetTerms, budgetBody, daysOf, numberOf, stateOf, termsBody } from './wire.ts'

export { createAnnouncements } from './announcements.ts'

/** More than a large organization has: a job and pages read all of them. */
const ACTIVE_LIMIT = 2_000

/** How soon a new budget is counted. */
const COUNT_EVERY_MS = 1_000

const COUNTS_AT_ONCE = 20

const FORECAST_EVERY_MS = 3_600_000

/** Of the past of a budget that is added with an earlier first day. */
const PAST_PERIODS = 400
const DAYS_LIMIT = 400

export type BudgetsService = ReturnType<typeof createBudgetsService>

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: Pick<OrganizationService, 'settings'>
  spending: SpendingService
  notifications: NotificationsService
}

/** Whoever asks: a person with a role, or the command line. */
export type BudgetAsker = Pick<Person, 'id' | 'role'> | null

export function createBudgetsService({ db, clock, audit, organization, spending, notifications }: Dependencies) {
  const alerts = createAlerts({ db, clock, notifications })

  const sightOf = (asker: BudgetAsker): BudgetSight =>
    asker === null || seesEverything(asker.role) ? 'everything' : { userId: asker.id }

  const calendarOf = async () => {
    const { timeZone, weekStart } = await organization.settings()
    return { timeZone, weekStart }
  }

  async function getView(uid: string, asker: BudgetAsker): Promise<BudgetView> {
    const view = isId('bdg', uid) ? await findBudgetView(db.read, uid, sightOf(asker)) : undefined
    if (!view) throw notFound(`The budget ${uid}`)
    return view
  }

  /**
   * Adds the periods from the first day, or the current one, up to now; of a budget without a first day that has ended, the
   * last one. There are at most `PAST_PERIODS`: of more, the latest, or none and a 422.
   */
  async function addPeriods(tx: Tx, budget: BudgetRecord, { refusesMore }: { refusesMore: boolean }): Promise<void> {
    await lockBeginning(tx)
    const spans = spansOf(budget, await calendarOf(), clock.now())
    if (spans.length > PAST_PERIODS && refusesMore) {
      throw validationFailed([
        { pointer: '/starts_on', code: 'not_allowed', message: `must be at most ${PAST_PERIODS} periods ago` },
      ])
    }
    for (const { firstDay, startingAt, endingAt } of spans.slice(-PAST_PERIODS)) {
      await insertPeriod(tx, {
        budgetId: budget.id,
        firstDay,
        startsAt: startingAt,
        endsAt: endingAt,
        available: budget.amount,
      })
    }
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
    const calendar = await calendarOf()
    const missing = (await listWithoutPeriod(db.read, now))
      .filter(({ budget, isNew }) => isNew || periodAt(now, budget, calendar))
      .map(({ budget }) => budget)
    if (missing.length === 0) return
    await db.write(
      async (tx) => {
        const terms = await spending.terms(tx)
        for (const budget of missing) {
          const [newest] = await listPeriods(tx, budget.id, 1)
          if (newest && terms) await spending.open(tx, budget, now, terms)
          else await addPeriods(tx, budget, { refusesMore: false })
        }
      },
      { isolation: 'read committed' },
    )
  }

  async function countNext(): Promise<number> {
    await openPeriods()
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
          await rollOver(tx, budget)
        },
        { isolation: 'read committed' },
      )
    }
    return waiting.length
  }

  async function count(): Promise<void> {
    while ((await countNext()) === COUNTS_AT_ONCE);
  }

  /** What was spent on the days of a period so far and the four weeks before, in units. */
  async function sumDays(budget: BudgetRecord, period: Pick<PeriodRecord, 'startsAt' | 'endsAt'>): Promise<DaySums> {
    const { timeZone, weekStart, markupPpm } = await organization.settings()
    const now = clock.now()
    return db.slowly(DAYS_TASK, { budgetId: budget.id, period, now, timeZone, weekStart, markupPpm, limit: DAYS_LIMIT })
  }

  function forecastAt(period: PeriodRecord, { past, rest }: DaySums) {
    if (rest.length === 0) return null
    return forecastOf({ past, rest, spent: Number(unitsOf(period)), available: Number(period.available) })
  }

  async function bodiesOf(views: readonly BudgetView[]): Promise<BudgetBody[]> {
    const { timeZone } = await calendarOf()
    const ids = views.map(({ budget }) => budget.id)
    const periods = await listPeriodsAt(db.read, ids, clock.now())
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
    const { timeZone } = await calendarOf()
    const period =
      (await listPeriodsAt(db.read, [budget.id], now)).get(budget.id) ?? (await listPeriods(db.read, budget.id, 1))[0]
    if (!period) throw notFound(`A period of the budget ${budget.uid}`)
    const sums = await sumDays(budget, period)
    const spent = unitsOf(period)
    const predicted = forecastAt(period, sums)
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
      entries_url: listPath({ ...filter, ...bounds }),
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

  /** Creates alerts of forecasts that reach a threshold. */
  async function checkForecasts(): Promise<void> {
    const budgets = (await listBudgets(db.read, 'everything', {}, { after: undefined, limit: ACTIVE_LIMIT })).map(
      (view) => view.budget,
    )
    for (const budget of budgets) {
      const thresholds = budget.thresholds.filter(({ forecast }) => forecast)
      if (thresholds.length === 0) continue
      const period = (await listPeriodsAt(db.read, [budget.id], clock.now())).get(budget.id)
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

  return {
    alerts,

    /** Counts all periods that need it. */
    count,
    checkForecasts,

    /** Adds a budget, whose entries are counted soon after. Throws 422 with every issue. */
    async addBudget(given: NewBudget, { by }: Pick<Party, 'by'>): Promise<BudgetBody> {
      const scope = await readScope(db.read, given.scope ?? {})
      const measure = given.measure ?? 'cost'
      const period = given.period ?? 'month'
      const amount = readAmount(given as { amount: number }, measure)
      const times = { firstDay: given.starts_on ?? null, lastDay: given.ends_on ?? null, period }
      checkDays(times)
      const thresholds = given.thresholds ? await readThresholds(db.read, given.thresholds) : USUAL_THRESHOLDS
      const name = given.name === undefined ? undefined : readName(given.name)
      const uid = await db.write(async (tx) => {
        if ((await countActive(tx)) >= ACTIVE_LIMIT) throw tooManyBudgets()
        const added = await insertBudget(tx, {
          ...scope,
          ...times,
          name: name ?? '',
          measure,
          amount,
          rollOver: given.roll_over ?? false,
          thresholds,
          ofProject: false,
          version: 1,
          createdAt: clock.now(),
          createdBy: by.userId,
          archivedAt: null,
        })
        // The names of what the scope refers to are known only now.
        const named = name ?? usualName((await findBudgetView(tx, added.uid, 'everything'))!)
        const budget = await updateBudget(tx, added.id, { name: named })
        await addPeriods(tx, budget, { refusesMore: true })
        const view = (await findBudgetView(tx, budget.uid, 'everything'))!
        await audit.record(tx, by, {
          action: 'budget.added',
          object: { id: budget.uid, name: budget.name },
          after: recorded(termsBody(view)),
        })
        return budget.uid
      })
      return getBudget(uid, null)
    },

    /** Changes a budget. With another amount, scope or time, thresholds can be reached again. */
    async changeBudget(id: string, change: BudgetChange, { by }: Pick<Party, 'by'>): Promise<BudgetBody> {
      const { budget: known } = await getView(id, null)
      const scope = change.scope && (await readScope(db.read, change.scope))
      const amount = change.amount === undefined ? undefined : readAmount(change as { amount: number }, known.measure)
      const thresholds = change.thresholds && (await readThresholds(db.read, change.thresholds, known.thresholds))
      const name = change.name === undefined ? undefined : readName(change.name)
      if (
        known.ofProject &&
        (scope || change.starts_on !== undefined || change.ends_on !== undefined || change.roll_over)
      ) {
        throw validationFailed([
          {
            pointer: '',
            code: 'not_allowed',
            message: 'of the budget of a project, only the name, the amount and the thresholds can be changed',
          },
        ])
      }
      await db.write(async (tx) => {
        const view = await findBudgetView(tx, known.uid, 'everything')
        if (!view) throw notFound(`The budget ${id}`)
        const { budget } = view
        const times = {
          period: budget.period,
          firstDay: change.starts_on === undefined ? budget.firstDay : change.starts_on,
          lastDay: change.ends_on === undefined ? budget.lastDay : change.ends_on,
        }
        checkDays(times)
        const isMoved = times.firstDay !== budget.firstDay || times.lastDay !== budget.lastDay
        const wanted = {
          ...budget,
          ...scope,
          ...times,
          name: name ?? budget.name,
          amount: amount ?? budget.amount,
          thresholds: thresholds ?? budget.thresholds,
          rollOver: change.roll_over ?? budget.rollOver,
        }
        const isOther =
          isMoved || wanted.amount !== budget.amount || wanted.rollOver !== budget.rollOver || scope !== undefined
        const { id: key, uid: _, ...columns } = wanted
        const changed = await updateBudget(tx, key, { ...columns, version: budget.version + (isOther ? 1 : 0) })
        if (isMoved || scope) {
          await deletePeriods(tx, key)
          await addPeriods(tx, changed, { refusesMore: true })
        } else if (isOther) {
          await rearm(tx, key, { now: clock.now(), added: wanted.amount - budget.amount })
          await rollOver(tx, changed)
        } else if (thresholds) await spending.warnOfNew(tx, changed)
        const after = termsBody((await findBudgetView(tx, budget.uid, 'everything'))!)
        const changes = difference(recorded(termsBody(view)), recorded(after))
        if (changes) {
          await audit.record(tx, by, {
            action: 'budget.changed',
            object: { id: budget.uid, name: after.name },
            ...changes,
          })
        }
      })
      return getBudget(known.uid, null)
    },

    /** Archives a budget, which then counts nothing and causes no alerts, or takes it back and counts again. */
    async archiveBudget(id: string, isArchived: boolean, { by }: Pick<Party, 'by'>): Promise<BudgetBody> {
      const { budget: known } = await getView(id, null)
      await db.write(async (tx) => {
        const budget = await findBudget(tx, known.id)
        if (!budget || (budget.archivedAt !== null) === isArchived) return
        await updateBudget(tx, budget.id, { archivedAt: isArchived ? clock.now() : null })
        if (!isArchived) {
          await deletePeriods(tx, budget.id)
          await addPeriods(tx, budget, { refusesMore: false })
        }
        await audit.record(tx, by, {
          action: isArchived ? 'budget.archived' : 'budget.restored',
          object: { id: budget.uid, name: budget.name },
        })
      })
      return getBudget(known.uid, null)
    },

    getBudget,

    /** What is spent of the current period, otherwise of the latest, with a forecast. */
    getStatus: async (id: string, asker: BudgetAsker): Promise<BudgetStatus> => statusOf(await getView(id, asker)),

    /**
     * A page of budgets, the newest first, with what is spent of each. A filter by state finds those whose current period is
     * counted and in one of these states.
     */
    async listBudgets(
      asker: BudgetAsker,
      { filter, limit, after }: { filter: BudgetListFilter; limit: number; after: number | undefined },
      listsPeople = asker === null,
    ): Promise<Page<BudgetBody>> {
      await requireKnownNames(db.read, filter, listsPeople)
      await spending.applyChanges()
      const { states, ...columns } = filter
      const pages = eachPage(
        (page: { after: number | undefined; limit: number }) =>
          listBudgets(db.read, sightOf(asker), columns, { ...page, after: page.after ?? after }),
        ({ budget }) => budget.id,
        states ? undefined : limit + 1,
      )
      const found: { key: number; body: BudgetBody }[] = []
      for await (const views of pages) {
        const bodies = await bodiesOf(views)
        const rows = views.map(({ budget }, index) => ({ key: budget.id, body: bodies[index]! }))
        found.push(...(states ? rows.filter(({ body }) => isInState(body, states)) : rows))
        if (found.length > limit) break
      }
      const page = pageOf(found, limit, ({ key }) => writeKeyPage(key))
      return { ...page, data: page.data.map(({ body }) => body) }
    },

    async listAlerts(
      asker: BudgetAsker,
      { budget, limit, after }: { budget: string | undefined; limit: number; after: number | undefined },
    ): Promise<Page<BudgetAlertBody>> {
      const uid = budget === undefined ? undefined : (await getView(budget, asker)).budget.uid
      const found = await listAlerts(db.read, sightOf(asker), { budget: uid, after, limit: limit + 1 })
      const page = pageOf(found, limit, ({ alert }) => writeKeyPage(alert.id))
      return { ...page, data: page.data.map(alertBody) }
    },

    /** All alerts, the newest first. */
    async *everyAlert(asker: BudgetAsker): AsyncGenerator<BudgetAlertBody> {
      const pages = eachPage(
        (page) => listAlerts(db.read, sightOf(asker), page),
        ({ alert }: AlertView) => alert.id,
      )
      for await (const found of pages) yield* found.map(alertBody)
    },

    /**
     * Whether the budgets that such entries count for leave anything: all of them, as a script may not go on because its
     * person does not see one. Of those, only the state is returned. Throws 422 for what does not exist.
     */
    async check(
      scope: NonNullable<NewBudget['scope']>,
      asker: Pick<Person, 'id' | 'uid' | 'email' | 'role'> | null,
    ): Promise<BudgetCheck> {
      requireOwn(scope, asker)
      await spending.applyChanges()
      const asked = await readScope(db.read, scope, '/query')
      const page = { after: undefined, limit: ACTIVE_LIMIT }
      const views = await listBudgets(db.read, 'everything', {}, page)
      const sight = sightOf(asker)
      const seen = sight === 'everything' ? views : await listBudgets(db.read, sight, {}, page)
      const seenIds = new Set(seen.map(({ budget }) => budget.id))
      const terms = await spending.terms(db.read)
      const ticketProject =
        asked.projectId ?? (asked.ticketId === null ? null : await findProjectOf(db.read, asked.ticketId))
      const index = new BudgetIndex(
        views.map((view) => view.budget),
        (id) => terms?.index.clientOf(id) ?? null,
      )
      const subject = {
        managerId: asked.managerId ?? -1,
        projectId: ticketProject,
        ticketId: asked.ticketId,
        agent: asked.agentName ?? '',
        model: asked.model ?? '',
        labels: asked.labelName === null ? null : { [asked.labelName]: asked.labelValue! },
      }
      const matching = [...index.matching(subject)]
      if (asked.clientId !== null) {
        matching.push(...views.map(({ budget }) => budget).filter((b) => b.clientId === asked.clientId && isOnly(b)))
      }
      const now = clock.now()
      const periods = await listPeriodsAt(
        db.read,
        matching.map(({ id }) => id),
        now,
      )
      const rows = [...new Set(matching)].flatMap((budget) => {
        const period = periods.get(budget.id)
        if (!period) return []
        const left = period.available - unitsOf(period)
        return [{ budget, period, left, isSeen: seenIds.has(budget.id) }]
      })
      rows.sort((one, other) => (one.left < other.left ? -1 : one.left > other.left ? 1 : 0))
      const least = (isTokens: boolean) =>
        rows.find(({ budget, isSeen }) => isSeen && (budget.measure === 'tokens') === isTokens)
      const [money, tokens] = [least(false), least(true)]
      return {
        allowed: rows.every(({ left }) => left > 0n),
        complete: rows.every(({ period }) => period.countedAt !== null),
        remaining: money ? numberOf(money.budget, money.left) : null,
        remaining_tokens: tokens ? numberOf(tokens.budget, tokens.left) : null,
        // Those that the asker does not see come last: their place would tell how much is left of them.
        budgets: [...rows.filter(({ isSeen }) => isSeen), ...rows.filter(({ isSeen }) => !isSeen).sort(byKey)].map(
          ({ budget, period, left, isSeen }) => ({
            id: isSeen ? budget.uid : null,
            name: isSeen ? budget.name : null,
            measure: budget.measure,
            spent: isSeen ? numberOf(budget, unitsOf(period)) : null,
            available: isSeen ? numberOf(budget, period.available) : null,
            remaining: isSeen ? numberOf(budget, left) : null,
            state: stateOf(unitsOf(period), period.available),
          }),
        ),
        as_of: timestamp(now),
      }
    },

    /**
     * Sends a test alert to everybody whom a threshold names, now. Throws `mail_not_set_up`.
     */
    async test(id: string): Promise<BudgetTest> {
      const outcomes = await alerts.sendTest(await getView(id, null))
      return {
        recipients: outcomes.filter(({ refusal }) => refusal === undefined).map(({ email }) => email),
        failed: outcomes.flatMap(({ email, refusal }) => (refusal === undefined ? [] : [{ email, answer: refusal }])),
      }
    },

    /** What a budget counts, in words, whoever asks; undefined if it is gone, as that of a project may be. */
    async describeScope(id: Id<'bdg'>): Promise<string | undefined> {
      const view = await findBudgetView(db.read, id, 'everything')
      return view && scopeOf(view)
    },

    /** One sentence per period whose sums are not those of its entries. */
    async verify(): Promise<string[]> {
      const now = clock.now()
      const { timeZone, weekStart, markupPpm } = await organization.settings()
      const issues: string[] = []
      for (const { budget } of await listBudgets(
        db.read,
        'everything',
        {},
        { after: undefined, limit: ACTIVE_LIMIT },
      )) {
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

    start(onError: (error: unknown) => void) {
      const jobs = [
        spending.start(onError),
        periodically(count, COUNT_EVERY_MS, onError),
        periodically(checkForecasts, FORECAST_EVERY_MS, onError),
      ]
      return {
        async stop() {
          await Promise.all(jobs.map((job) => job.stop()))
        },
      }
    },
  }
}

const NOTHING = { billions: 0, units: 0, millionths: 0, entries: 0, unpricedEntries: 0 }

/** A client's budget of all of its entries. */
function isOnly({ projectId, ticketId, managerId, agentName, model, labelName }: BudgetRecord): boolean {
  return [projectId, ticketId, managerId, agentName, model, labelName].every((column) => column === null)
}

function isInState({ current }: BudgetBody, states: readonly BudgetState[]): boolean {
  return current?.complete === true && states.includes(current.state)
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

/** The bounds of a period as filters of entries; none where it has no first or last day. */
function boundsOf(period: PeriodRecord): { starting_at?: number; ending_at?: number } {
  return {
    ...(hasStart(period) && { starting_at: period.startsAt }),
    ...(hasEnd(period) && { ending_at: period.endsAt }),
  }
}

/** Who does not see everybody's usage learns nothing of other people, not even whether they exist. */
function requireOwn(
  { agent_manager: person }: NonNullable<NewBudget['scope']>,
  asker: Pick<Person, 'uid' | 'email' | 'role'> | null,
): void {
  if (!person || asker === null || seesEverything(asker.role)) return
  if (person === asker.uid || foldName(person) === asker.email) return
  throw validationFailed([{ pointer: '/query/agent_manager', code: 'not_allowed', message: 'must be yourself' }])
}

const byKey = (one: { budget: BudgetRecord }, other: { budget: BudgetRecord }) => one.budget.id - other.budget.id

/** Without what never changes. */
function recorded({ id: _id, created_at: _at, archived_at: _archived, of_project: _of, ...body }: BudgetTerms) {
  return body
}

/** As of given names. */
const NAME_LIMIT = 200

/** What is left of a character that was cut in half: PostgreSQL takes none. */
const HALF_CHARACTER = /[\ud800-\udbff]$/

/** What the budget is for: `Acme web, monthly`. */
function usualName({ budget, client, project, ticket, manager }: BudgetView): string {
  const { agentName, model, labelName, labelValue } = budget
  const label = labelName && `${labelName}:${labelValue}`
  const named = [client?.name, project?.name, ticket?.key, manager?.name, agentName, model, label]
  const what = named.filter((name) => name).join(', ')
  const adverb = { day: 'daily', week: 'weekly', month: 'monthly', quarter: 'quarterly', year: 'yearly', once: 'total' }
  return `${what === '' ? 'Organization' : what}, ${adverb[budget.period]}`
    .slice(0, NAME_LIMIT)
    .replace(HALF_CHARACTER, '')
}

function tooManyBudgets(): Problem {
  const message = `there are ${ACTIVE_LIMIT} budgets already; archive some first`
  return validationFailed([{ pointer: '', code: 'too_many', message }])
}
