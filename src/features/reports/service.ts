/** Reports on usage and money, and on missing data. They change nothing. */
import type { Asker } from '../../access/asker.ts'
import { requireBasis } from '../../access/cost-basis.ts'
import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { QueryTexts } from '../../schema/query.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import type { EntriesService } from '../entries/service.ts'
import type { FundingService } from '../funding/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { checkRollup, createRollup } from '../rollup/service.ts'
import type { SelectionService } from '../selection/service.ts'
import { findTimeZone } from './buckets.ts'
import { createCache } from './cache.ts'
import { createCompleteness } from './completeness.ts'
import { type NamedPeriod, periodTexts } from './period.ts'
import { createPriceChanges } from './price-changes.ts'
import {
  type Circumstances,
  readCache,
  readOutliers,
  readOverview,
  readPeriodAlone,
  readUnpriced,
  readUsage,
  readVariance,
  readWhatIf,
} from './query.ts'
import type { SumsProgress, WholeProgress } from './schema.ts'
import { settledSums } from './settled-sums.ts'
import { createSums } from './sums.ts'
import { createSurcharges } from './surcharges.ts'
import { createUnattributed, readUnattributed } from './unattributed.ts'
import { createUnpriced } from './unpriced.ts'
import { createUsage } from './usage.ts'
import { createUsageRows } from './usage-rows.ts'
import { createVariance } from './variance.ts'
import { createVersions } from './version.ts'
import { createWhatIf } from './what-if.ts'

export { COUNTED_STATUSES, counted } from './counted-entries.ts'
export {
  type CacheLine,
  COMPLETENESS_COLUMNS,
  cacheColumns,
  cacheLines,
  costHeading,
  exact,
  PRICE_CHANGES_COLUMNS,
  SURCHARGE_COLUMNS,
  UNPRICED_COLUMNS,
  usageColumns,
  usageLines,
  VARIANCE_COLUMNS,
  WHAT_IF_COLUMNS,
} from './csv.ts'
export type { CacheQuery, OutliersQuery, OverviewDimension, UsageQuery } from './query.ts'
export { OVERVIEW_BUCKETS, OVERVIEW_DIMENSIONS } from './query.ts'
export { settledRead } from './settled-sums.ts'
export type { Key, SumsRow } from './sums.ts'
export { UNATTRIBUTED_COLUMNS } from './unattributed.ts'
export { createReportViewsService } from './views/service.ts'
export { periodBody, tokensBody } from './wire.ts'
export type ReportsService = ReturnType<typeof createReportsService>

export interface ReportsDependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  billing: Pick<EntriesService['billing'], 'settled'>
  funding: Pick<FundingService, 'decisions'>
  selection: SelectionService
}

export function createReportsService({ db, clock, organization, billing, funding, selection }: ReportsDependencies) {
  async function circumstances(): Promise<Circumstances & { leadsSeeFees: boolean }> {
    const { timeZone, weekStart, leadsSeeFees } = await organization.settings()
    return { now: clock.now(), timeZone, weekStart, leadsSeeFees }
  }

  /** Throws `fees_hidden` (403) for a basis that the asker may not take. */
  async function readFor<Read extends object>(
    asker: Asker,
    texts: QueryTexts,
    read: (texts: QueryTexts, circumstances: Circumstances) => Read,
  ): Promise<Read> {
    const usual = await circumstances()
    const query: Read & { basis?: CostBasis } = await selection.read(asker, () => read(texts, usual))
    await requireBasis(db.read, asker.viewer, query.basis ?? 'cost', usual)
    return query
  }

  const sums = settledSums(createSums({ db }), billing)
  const rollup = createRollup({ db, clock, timeZone: async () => (await organization.settings()).timeZone })

  /** The progress of summing days. */
  async function progress(): Promise<WholeProgress> {
    const { timeZone, days, waitingDays, isComplete } = await rollup.status()
    const made = days - waitingDays
    const percent = isComplete ? 100 : Math.min(99, Math.floor((100 * made) / Math.max(1, days)))
    return { time_zone: timeZone, days, days_made: made, percent, complete: isComplete }
  }

  return {
    ...createUsage({ db, billing }),
    ...createUsageRows(sums),
    ...createUnpriced({ db, billing }),
    ...createUnattributed({ db, billing }),
    ...createVariance(sums),
    ...createCompleteness({ db, clock, billing, funding }),
    ...createCache({ db, billing }),
    ...createWhatIf({ db, billing }),
    ...createPriceChanges({ db, billing }),
    ...createSurcharges({ db, billing }),
    ...createVersions({ db }),

    jobs: [rollup.job],

    /** Maintains the sums of days and months. */
    rollup,

    progress,

    /** The same for a viewer: on how many days there are entries, and whether one of them has changed, is not for everyone. */
    async progressFor(viewer: Viewer): Promise<SumsProgress> {
      if (viewer.sees === 'everything') return progress()
      const { timeZone, isAdopted } = await rollup.status()
      return { time_zone: timeZone, days: null, days_made: null, percent: null, complete: isAdopted }
    },

    /** One sentence per sum of days or months that differs from that of its entries. */
    verify: (onProgress?: (done: number, total: number) => void) => checkRollup({ db, onProgress }),

    /**
     * Parsers for the parameters of each report, with the current defaults. Each throws `validation_failed` (422) with
     * every issue, or if nothing has a name in the filters.
     */
    readUsage: (texts: QueryTexts, asker: Asker) => readFor(asker, texts, readUsage),
    readOverview: (texts: QueryTexts, asker: Asker) => readFor(asker, texts, readOverview),
    readOutliers: (texts: QueryTexts, asker: Asker) => readFor(asker, texts, readOutliers),
    readUnpriced: (texts: QueryTexts, asker: Asker) => readFor(asker, texts, readUnpriced),
    readVariance: (texts: QueryTexts, asker: Asker) => readFor(asker, texts, readVariance),
    readWhatIf: (texts: QueryTexts, asker: Asker) => readFor(asker, texts, readWhatIf),
    readPeriod: (texts: QueryTexts, asker: Asker) => readFor(asker, texts, readPeriodAlone),
    readCache: (texts: QueryTexts, asker: Asker) => readFor(asker, texts, readCache),
    readCompleteness: (texts: QueryTexts, asker: Asker) => readFor(asker, texts, readPeriodAlone),
    readUnattributed: (texts: QueryTexts, asker: Asker) => readFor(asker, texts, readUnattributed),

    /** Converts a named period to parameters of any of these. Throws `validation_failed` (422). */
    async periodTexts(period: NamedPeriod, timeZone?: string): Promise<QueryTexts> {
      const usual = await circumstances()
      // The report itself reports an unknown time zone, together with all other issues.
      return periodTexts(period, { ...usual, timeZone: findTimeZone(timeZone ?? '') ?? usual.timeZone })
    },
  }
}
