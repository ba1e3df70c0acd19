/**
 * Budgets: how much may be spent on something in a period, and who is warned when a share of it is spent
 * (docs/design/budgets.md). Tally is not between agents and models, so it never stops anything.
 */
import { requireBasis } from '../../access/cost-basis.ts'
import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/id.ts'
import { Job } from '../../lib/jobs.ts'
import { eachPage, type Page, pageOf } from '../../schema/lists.ts'
import { writeKeyPage } from '../../schema/query.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import type { AuditService } from '../audit/service.ts'
import type { NotificationsService } from '../notifications/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { SpendingService } from '../spending/service.ts'
import { createAlerts, scopeOf } from './alerts.ts'
import { createChanges } from './changes.ts'
import { createCheck } from './check.ts'
import { createForecasts } from './forecasts.ts'
import { createPeriods } from './periods.ts'
import { type BudgetAsker, createReading, sightOf } from './reading.ts'
import { createRecount } from './recount.ts'
import { requireKnownNames } from './request.ts'
import type { BudgetAlertBody, BudgetBody, BudgetState, BudgetTest } from './schema.ts'
import { type BudgetListFilter, findBudgetView, listAlerts, listBudgets } from './store.ts'
import { alertBody } from './wire.ts'

export { createAnnouncements } from './announcements.ts'

/** How soon a new budget is counted. */
const COUNT_EVERY_MS = 1_000

const FORECAST_EVERY_MS = 3_600_000

export type BudgetsService = ReturnType<typeof createBudgetsService>

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: Pick<OrganizationService, 'settings'>
  spending: SpendingService
  notifications: NotificationsService
}

export type { BudgetAsker } from './reading.ts'

export function createBudgetsService(dependencies: Dependencies) {
  const { db, notifications, spending } = dependencies
  const alerts = createAlerts(dependencies)
  const periods = createPeriods(dependencies)
  const forecasts = createForecasts(dependencies)
  const reading = createReading({ ...dependencies, forecasts })
  const { getView, bodiesOf, getBudget, getStatus } = reading
  const recount = createRecount({ ...dependencies, periods })

  return {
    alerts,
    ...recount,
    checkForecasts: forecasts.checkForecasts,
    ...createChanges({ ...dependencies, periods, reading }),
    getBudget,
    getStatus,

    /** Throws `not_found` for a budget that the viewer does not see. */
    requireSeen: async (id: string, viewer: Viewer): Promise<void> => void (await getView(id, viewer)),

    /** Throws 403 `fees_hidden` for a budget that the viewer would not see. */
    requireBasis: async (viewer: Viewer, basis: CostBasis = 'cost'): Promise<void> =>
      requireBasis(db.read, viewer, basis, await dependencies.organization.settings()),

    check: createCheck(dependencies),

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
      const sight = await sightOf(dependencies, asker)
      const { states, ...columns } = filter
      const pages = eachPage(
        (page: { after: number | undefined; limit: number }) =>
          listBudgets(db.read, sight, columns, { ...page, after: page.after ?? after }),
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
      const sight = await sightOf(dependencies, asker)
      const found = await listAlerts(db.read, sight, { budget: uid, after, limit: limit + 1 })
      const page = pageOf(found, limit, ({ alert }) => writeKeyPage(alert.id))
      return { ...page, data: page.data.map(alertBody) }
    },

    /**
     * Sends a test alert to everyone whom a threshold names, now. Throws `mail_not_set_up`.
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

    jobs: [
      ...spending.jobs,
      new Job({
        name: 'budget-count',
        task: 'count what is spent of a budget',
        everyMs: COUNT_EVERY_MS,
        run: recount.count,
      }),
      new Job({
        name: 'budget-forecasts',
        task: 'forecast what will be spent of a budget',
        everyMs: FORECAST_EVERY_MS,
        run: forecasts.checkForecasts,
      }),
      ...(notifications.hasMailServer ? [alerts.job] : []),
    ],
  }
}

function isInState({ current }: BudgetBody, states: readonly BudgetState[]): boolean {
  return current?.complete === true && states.includes(current.state)
}
