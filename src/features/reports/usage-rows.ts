/** The sums of a report on usage as rows, for a feature that shows some of them only. */
import type { Viewer } from '../../access/visibility.ts'
import { refusal } from '../../errors.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { COUNTED_STATUSES } from '../../shared/entry-filters.ts'
import { type Bucket, bucketsOf } from './buckets.ts'
import { PAGE_BUCKETS, type UsageQuery } from './query.ts'
import type { Dimension, Sums, SumsRow } from './sums.ts'
import { ROW_LIMIT, tooManyGroups } from './usage.ts'

export interface UsageRows {
  buckets: Bucket[]
  /** In the order of their buckets. */
  rows: SumsRow[]
}

export interface UsageRowsQuery
  extends Pick<UsageQuery, 'startingAt' | 'endingAt' | 'width' | 'timeZone' | 'weekStart'> {
  dimensions: readonly Dimension[]
  /** Only entries on the bill with this id. */
  bill?: string
  /** What their cost is; `cost` where absent. */
  basis?: CostBasis
  /** Only entries that are billed, or that are not. */
  billed?: boolean | undefined
}

export function createUsageRows(sums: Pick<Sums, 'sums'>) {
  return {
    /** Throws `validation_failed` (422) for more buckets or groups than a page has, and `database_deadline` (503). */
    async usageRows(viewer: Viewer, { dimensions, bill, basis, billed, ...query }: UsageRowsQuery): Promise<UsageRows> {
      const buckets = bucketsOf(query, PAGE_BUCKETS + 1)
      if (buckets.length > PAGE_BUCKETS) throw tooManyBuckets()
      const rows = await sums.sums({
        viewer,
        filter: {
          ...(bill !== undefined && { bill: [bill] }),
          ...(billed !== undefined && {
            status: COUNTED_STATUSES.filter((status) => (status === 'billed') === billed),
          }),
        },
        dimensions,
        ...(basis && { basis }),
        bounds: [...buckets.map(({ startingAt }) => startingAt), query.endingAt],
        limit: ROW_LIMIT + 1,
      })
      if (rows.length > ROW_LIMIT) throw tooManyGroups(ROW_LIMIT)
      return { buckets, rows }
    },
  }
}

function tooManyBuckets() {
  const message = `results in more than ${PAGE_BUCKETS.toLocaleString('en')} buckets for this period. Use wider buckets or a shorter period`
  return refusal('/query/bucket_width', 'too_many_buckets', message)
}
