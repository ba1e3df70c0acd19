/** What a branch or a ticket has cost, for whoever reviews it: usage, what is not assigned, and the budgets it counts for. */
import type { Asker } from '../../access/asker.ts'
import type { Viewer } from '../../access/visibility.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestampOrNull } from '../../lib/duration.ts'
import type { QueryTexts } from '../../schema/query.ts'
import type { BudgetsService } from '../budgets/service.ts'
import { afterAllStarts } from '../entries/contract.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { UsageResult } from '../reports/schema.ts'
import { counted, type ReportsService, type UsageQuery } from '../reports/service.ts'
import { type EntryFilter, listPath } from '../selection/contract.ts'
import { type ReceiptSubject, readSubject } from './query.ts'
import type { Receipt } from './schema.ts'

interface Dependencies {
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  reports: Pick<ReportsService, 'readUsage' | 'usage'>
  budgets: Pick<BudgetsService, 'check'>
}

interface ReceiptAsker {
  viewer: Viewer
  asker: Asker
  seesBudgets: boolean
}

export type ReceiptsService = ReturnType<typeof createReceiptsService>

export function createReceiptsService({ clock, organization, reports, budgets }: Dependencies) {
  async function budgetsOf(
    { repository, branch, ticket }: ReceiptSubject,
    projects: readonly UsageResult[],
    asker: Asker,
  ): Promise<Receipt['budgets']> {
    // A budget is for one label at most.
    const labels = Object.entries({ repository, branch }).flatMap(([name, value]) =>
      value === undefined ? [] : [{ label: `${name}:${value}` }],
    )
    const works = projects.length > 0 ? projects.map(({ project }) => ({ project: project?.id ?? null })) : [{}]
    const scopes = works.flatMap((work) =>
      (labels.length > 0 ? labels : [{}]).map((label) => ({ ...work, ...label, ticket: ticket ?? null })),
    )
    return budgets.check(scopes, asker)
  }

  return {
    /**
     * Throws `validation_failed` (422) for invalid parameters and a ticket that does not exist, `fees_hidden` (403), and
     * `database_deadline` (503).
     */
    async receipt({ viewer, asker, seesBudgets }: ReceiptAsker, texts: QueryTexts): Promise<Receipt> {
      const subject = readSubject(texts)
      const { repository, branch, ticket } = subject
      const usage = await reports.readUsage(
        {
          starting_at: texts.starting_at ?? EVER,
          ending_at: texts.ending_at ?? new Date(afterAllStarts(clock.now())).toISOString(),
          basis: texts.basis,
          ticket,
          label: Object.entries({ repository, branch }).flatMap(([name, value]) => (value ? [`${name}:${value}`] : [])),
          bucket_width: 'all',
        },
        asker,
      )
      const starting_at = texts.starting_at === undefined ? undefined : usage.startingAt
      const ending_at = texts.ending_at === undefined ? undefined : usage.endingAt
      const filter = { ...usage.filter, starting_at, ending_at }
      const report = (more: Partial<UsageQuery>) => reports.usage(viewer, { ...usage, ...more })
      // To count sessions reads every entry of the period, while sums say at once in which month the first one is.
      const months = texts.starting_at === undefined ? await report({ width: '1mo' }) : undefined
      const startingAt = Date.parse(months?.data[0]?.starting_at ?? '') || usage.startingAt
      const include = ['sessions', 'active_seconds'] as const
      const [byModel, byProject, byPerson, unattributed, { costBasis }] = await Promise.all([
        report({ dimensions: ['model'], include: [...include], startingAt, from: startingAt }),
        report({ dimensions: ['project'] }),
        subject.people && viewer.sees !== 'granted'
          ? report({ dimensions: ['agent_manager'], include: [...include], startingAt, from: startingAt })
          : undefined,
        report({ filter: { ...usage.filter, placed: ['none'] } }),
        organization.settings(),
      ])
      const { time_zone, currency, basis, provisional, totals } = byModel
      const results = ({ data }: typeof byModel): UsageResult[] => data[0]?.results ?? []
      const { entries, unpriced_entries, cost } = unattributed.totals
      const onBasis = (path: string, usual: typeof basis) => (basis === usual ? path : `${path}&basis=${basis}`)
      const listOf = (of: EntryFilter) => onBasis(listPath(counted(of)), 'cost')
      return {
        repository: repository ?? null,
        branch: branch ?? null,
        ticket: ticket ?? null,
        starting_at: timestampOrNull(starting_at ?? null),
        ending_at: timestampOrNull(ending_at ?? null),
        ...{ time_zone, currency, basis, ...(provisional && { provisional }), totals },
        models: results(byModel),
        people: byPerson ? results(byPerson) : null,
        unattributed: { entries, unpriced_entries, cost, list: listOf({ ...filter, placed: ['none'] }) },
        budgets: seesBudgets ? await budgetsOf(subject, results(byProject), asker) : null,
        list: listOf(filter),
        // Without a status, it counts what reports do, by the organization's basis.
        page: onBasis(listPath(filter).replace('/api/v1/token-entries', '/entries'), costBasis),
      }
    },
  }
}

/** Before the first entry that there can be. */
const EVER = '1970-01-01T00:00:00Z'
