/**
 * The overview of a period: its usage, that of the period before, what is incomplete, budgets that are nearly used up, and
 * the forecast of the month.
 */
import type { Asker } from '../../access/asker.ts'
import type { Viewer } from '../../access/visibility.ts'
import type { Span } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import type { QueryTexts } from '../../schema/query.ts'
import { keyOf } from '../../shared/dimensions.ts'
import type { BudgetBody, BudgetState } from '../budgets/schema.ts'
import type { BudgetAsker, BudgetsService } from '../budgets/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { UsageReport, UsageResult } from '../reports/schema.ts'
import type { OverviewDimension, ReportsService, UsageQuery } from '../reports/service.ts'
import { forecastSpan, monthForecast } from './month-forecast.ts'
import type { MonthForecast, Overview } from './schema.ts'

/** Groups of each ranking over time, and budgets. */
const SHOWN = 6

const URGENT_STATES: BudgetState[] = ['nearly', 'exceeded']

interface Dependencies {
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  reports: Pick<
    ReportsService,
    'readUsage' | 'readOverview' | 'usageJson' | 'usage' | 'readCompleteness' | 'completeness'
  >
  budgets: Pick<BudgetsService, 'listBudgets'>
}

/** Who asks. Without a `budgetAsker`, the overview has no budgets. */
interface OverviewAsker {
  viewer: Viewer
  asker: Asker
  budgetAsker: BudgetAsker | undefined
}

export type OverviewService = ReturnType<typeof createOverviewService>

export function createOverviewService({ clock, organization, reports, budgets }: Dependencies) {
  async function forecastOf(viewer: Viewer, usage: UsageQuery): Promise<MonthForecast | null> {
    const { timeZone, weekStart } = await organization.settings()
    const now = clock.now()
    const span = forecastSpan(now, timeZone)
    const byDay = { ...usage, ...span, from: span.startingAt, timeZone, weekStart, width: '1d' as const }
    return monthForecast(await reports.usage(viewer, byDay), timeZone, now)
  }

  async function budgetsFor({ asker, budgetAsker }: OverviewAsker, texts: QueryTexts): Promise<Overview['budgets']> {
    if (budgetAsker === undefined) return null
    const { client, project } = texts
    // Budgets have names; entries without a client or a project are in none of theirs.
    const [clients, projects] = [client, project].map((names) =>
      names === undefined ? undefined : [names].flat().filter((name) => name !== 'none'),
    )
    if (clients?.length === 0 || projects?.length === 0) return { total: 0, data: [] }
    const query = {
      filter: { clients, projects, states: URGENT_STATES },
      limit: Number.POSITIVE_INFINITY,
      after: undefined,
    }
    const { data } = await budgets.listBudgets(budgetAsker, query, asker.listsPeople)
    return { total: data.length, data: data.toSorted((one, other) => useOf(other) - useOf(one)).slice(0, SHOWN) }
  }

  return {
    /**
     * The JSON of an {@link Overview}, whose usage is serialized off the main thread. Throws `validation_failed` (422) for
     * invalid parameters, names that nothing has, and more buckets than a chart has room for, and `database_deadline`
     * (503).
     */
    async overviewJson(who: OverviewAsker, texts: QueryTexts): Promise<string> {
      const { viewer, asker } = who
      const work = Object.fromEntries(Object.entries(texts).filter(([name]) => !OWN.has(name)))
      const { dimension, previous, ...read } = await reports.readOverview(texts, asker)
      const usage = { ...read, dimensions: [], fillGaps: true }
      const grouped = { ...read, dimensions: [dimension] }
      const groupsIn = ({ startingAt, endingAt }: Span) =>
        json({ ...grouped, startingAt, endingAt, from: startingAt, width: 'all' })
      const json = async (query: UsageQuery) => new TextDecoder().decode(await reports.usageJson(viewer, query))

      async function groupsAndLargest(): Promise<[groups: string, largest: string]> {
        const groups = await groupsIn(usage)
        const keys = largestIn(JSON.parse(groups) as UsageReport, dimension)
        if (keys.length === 0) return [groups, 'null']
        // A year of all groups could be megabytes.
        const { filter } = await reports.readUsage({ ...work, [dimension]: keys }, asker)
        return [groups, await json({ ...grouped, filter })]
      }

      const [overTime, [groups, largest], before, completeness, forecast, urgent] = await Promise.all([
        json(usage),
        groupsAndLargest(),
        groupsIn(previous),
        reports.readCompleteness(work, asker).then((query) => reports.completeness(viewer, query)),
        forecastOf(viewer, usage),
        budgetsFor(who, texts),
      ])
      const rest = JSON.stringify({ completeness, forecast, budgets: urgent })
      return `{"usage":${overTime},"groups":${groups},"previous":${before},"largest":${largest},${rest.slice(1)}`
    },
  }
}

/** The parameters of an overview that are not those of the reports in it. */
const OWN: ReadonlySet<string> = new Set([
  'bucket_width',
  'group_by',
  'basis',
  'previous_starting_at',
  'previous_ending_at',
])

/** The keys of the groups with the highest cost and of those with the most tokens; not of what is in no group. */
function largestIn({ data: [all] }: UsageReport, dimension: OverviewDimension): string[] {
  const groups = (all?.results ?? []).filter((result) => keyOf(result, dimension) !== null)
  const most = (measure: (result: UsageResult) => number) =>
    groups
      .filter((result) => measure(result) > 0)
      .toSorted((one, other) => measure(other) - measure(one))
      .slice(0, SHOWN)
  const chosen = [...most(({ cost }) => cost ?? 0), ...most(({ tokens }) => tokens.total)]
  return [...new Set(chosen.map((result) => keyOf(result, dimension)!))]
}

/** The part of a budget that is used. Exact amounts are JSON texts. */
function useOf({ current }: BudgetBody): number {
  const [spent, available] = [current!.spent, current!.available].map((amount) => Number(JSON.stringify(amount)))
  return available! > 0 ? spent! / available! : 1
}
