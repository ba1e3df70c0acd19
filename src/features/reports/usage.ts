/** Usage: tokens, entries and money by time and group, page by page. */
import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { refusal } from '../../errors.ts'
import { parseRawJson } from '../../lib/exact-json.ts'
import { PAGE_BUCKETS, type UsageQuery } from './query.ts'
import type { UsageBucket, UsageReport } from './schema.ts'
import { type Billing, settledSum } from './settled-sums.ts'
import { USAGE_PAGE_TASK, type UsagePage } from './usage-page.ts'

/** Groups per response: a few megabytes of JSON, and more than anyone reads. Longer results have several pages. */
export const ROW_LIMIT = 10_000

export function tooManyGroups(rowLimit: number) {
  return refusal(
    '/query/group_by',
    'too_many_groups',
    `makes more than ${rowLimit.toLocaleString('en')} groups in one bucket: filter, or group by fewer things`,
  )
}

export function createUsage({ db, billing }: { db: Database; billing: Billing }, rowLimit = ROW_LIMIT) {
  async function readPage(viewer: Viewer, query: UsageQuery, encoding?: 'zstd'): Promise<UsagePage> {
    const task = { viewer, query, rowLimit, encoding }
    const page = await settledSum(billing, query, () => db.slowly(USAGE_PAGE_TASK, task))
    if (!page) throw tooManyGroups(rowLimit)
    return page
  }

  return {
    /**
     * A page of the report. Throws `validation_failed` (422) if a single bucket has too many groups, and
     * `database_deadline` (503).
     */
    async usage(viewer: Viewer, query: UsageQuery): Promise<UsageReport> {
      return reportOf(await readPage(viewer, query))
    },

    /** The JSON of {@link usage}, in UTF-8, compressed if there is an encoding. */
    async usageJson(viewer: Viewer, query: UsageQuery, encoding?: 'zstd'): Promise<Uint8Array<ArrayBuffer>> {
      return (await readPage(viewer, query, encoding)).json
    },

    /** All buckets of the whole query. Throws as {@link usage} does. */
    async *exportUsage(viewer: Viewer, query: UsageQuery): AsyncGenerator<UsageBucket> {
      for (let from: number | null = query.startingAt; from !== null; ) {
        const page: UsagePage = await readPage(viewer, { ...query, from, limit: PAGE_BUCKETS })
        yield* reportOf(page).data
        from = page.next
      }
    },
  }
}

function reportOf({ json }: UsagePage): UsageReport {
  return parseRawJson(new TextDecoder().decode(json)) as UsageReport
}
